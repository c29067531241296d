# `make report` and `make test` need python3 with pip, make and git; everything else they set up themselves.

export UV_SYSTEM_CERTS = 1
# Every test that starts a program would compile all of it anew: ten seconds instead of two.
export UV_COMPILE_BYTECODE = 1
export PYTHONDONTWRITEBYTECODE =
UV := $(shell command -v uv || echo .tools/bin/uv)
READY := .venv/.ready
LOCK := $(UV) pip compile --quiet --universal --generate-hashes --no-annotate --no-header $(UPGRADE)
# Tests that launch wait for most of their time, slow ones even more of it.
WORKERS := $(shell echo $$((2 * $$(nproc))))
SLOW_WORKERS := $(shell echo $$((3 * $$(nproc))))
# There are more workers than processors: pools of threads in each of them would only take processor time.
test test-slow test-oldest test-newest: export POLARS_MAX_THREADS = 1
test test-slow test-oldest test-newest: export OPENBLAS_NUM_THREADS = 1
FAST := not slow and not root and not browser and not cluster

.PHONY: report replicate test check types style test-slow dist test-dist test-oldest test-newest docs reference robustness coverage same bench fuzz lock clean

report: $(READY)  ## Run the main job; the result is reports/index.html
	.venv/bin/fsbench doctor --install
	.venv/bin/fsbench report

replicate: $(READY)  ## Run the five published studies again on this machine, about an hour; reports/replicated/index.html
	.venv/bin/fsbench doctor --install
	.venv/bin/fsbench report notebooks/replicate.toml --to reports/replicated --fresh

test: check  ## Format, lint, types and the fast tests
	.venv/bin/pytest -n $(WORKERS) --dist worksteal -m "$(FAST)"

check: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types style

types: $(READY)
	.venv/bin/mypy

style: $(READY)
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/lint-imports --no-cache

# A file's tests run one after the other: they share what took minutes to make, or launch where only one may.
test-slow: $(READY)  ## The tests that take their time, or need root or a browser
	.venv/bin/pytest tests -n $(SLOW_WORKERS) --dist loadfile --no-loadscope-reorder -m "not ($(FAST))"

dist: $(READY)  ## The distributions, and the list of the packages that they were tested with (SBOM), in dist/
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) .venv/bin/python -m hatchling build
	.venv/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible --output-file dist/sbom.json requirements.lock

test-dist: $(READY)  ## The distributions, in empty environments of the oldest and the newest Python
	.venv/bin/pytest tests/test_wheel.py

test-oldest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-oldest test-newest: $(READY)  ## The fast tests with the oldest or newest packages that pyproject.toml allows
	$(UV) pip install --quiet --resolution $(RESOLUTION) --upgrade --group dev --editable '.[all]'
	rm $(READY)  # the next target goes back to what is pinned
	.venv/bin/pytest -n $(WORKERS) --dist worksteal -m "$(FAST)"

docs: reference  ## The manual as a site that opens without a network: docs/_site/index.html
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_site

reference: $(READY)  ## The parts of the manual that are made from docstrings, models and the vocabulary
	.venv/bin/python -m docs.generator

robustness: $(READY)  ## How much damage to a log is noticed, for the page of the formats
	.venv/bin/python -m benchmarks.robustness
	.venv/bin/python -m docs.generator

coverage: $(READY)  ## How often the intervals of stats/ hold, for docs/coverage.md
	.venv/bin/python -m benchmarks.coverage

same: $(READY)  ## The same target twice: how often a launch's intervals include 1, for docs/same.md; root, half an hour
	.venv/bin/python -m benchmarks.same --studies 20 --write

bench: $(READY)  ## What reading and comparing cost beside finding the numbers, for docs/benchmarks.md
	$(UV) pip install --quiet --require-hashes -r bench.lock
	.venv/bin/python -m benchmarks.bench --write

fuzz: $(READY)  ## 10 minutes of TOOL=fio, bonnie++, sysbench, iozone, ...; what breaks is kept in tests/data/fuzz
	$(UV) pip install --quiet --require-hashes -r fuzz.lock
	.venv/bin/python -m benchmarks.fuzz $(TOOL)

# The lock files pin every package by its hashes, and name no server. Versions stay unless UPGRADE=--upgrade.
lock: | $(UV)  ## Resolve what pyproject.toml asks for
	$(LOCK) pyproject.toml --extra all --group pyproject.toml:dev --output-file requirements.lock
	$(LOCK) --group pyproject.toml:bench --constraint requirements.lock --output-file bench.lock
	$(LOCK) --group pyproject.toml:fuzz --constraint requirements.lock --output-file fuzz.lock

environment.yml: pyproject.toml $(READY)
	.venv/bin/pyproject2conda yaml --name fsbench-kit --channel conda-forge --python-include infer --extra notebooks --extra launch --extra pandas --extra remote --extra cluster \
		--dep fio --req "-e ." --custom-command "make environment.yml" --overwrite force --output $@

# The stamp is written last, so that a sync that failed is tried again.
$(READY): pyproject.toml requirements.lock | $(UV)
	$(UV) venv --quiet --allow-existing
	$(UV) pip sync --quiet --require-hashes requirements.lock
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.tools/bin/uv:
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target .tools uv

clean:
	rm -rf .venv .tools dist reports raw_results/runs docs/_site docs/_charts
