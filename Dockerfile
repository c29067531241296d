# What `make test` and `make report` need, on Debian: docker build -t fsbench . && docker run --rm fsbench
FROM python:3.13-slim-trixie

# The programs that are measured, those that make filesystems, a Chromium and a compiler for the tests.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bonnie++ btrfs-progs ca-certificates chromium e2fsprogs fio fonts-dejavu-core gcc git libc6-dev make sysbench \
        time util-linux xfsprogs \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /kit
# The packages are a layer of their own, which lasts until their lock changes.
COPY Makefile pyproject.toml requirements.lock README.md LICENSE ./
COPY fsbench_kit/__init__.py fsbench_kit/
COPY notebooks notebooks
COPY plans plans
COPY raw_results raw_results
RUN make .venv/.ready
COPY . .
ENV PATH="/kit/.venv/bin:$PATH" FSBENCH_NO_INSTALL=1
RUN git init --quiet && git add --all && git -c user.name=kit -c user.email=kit@localhost commit --quiet --message=kit
CMD ["make", "test"]
