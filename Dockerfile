# What `make test` and `make report` need, on Debian: docker build -t fsbench . && docker run --rm fsbench
FROM python:3.13-slim-trixie

# The programs that are measured, those that make filesystems, a Chromium and a compiler for the tests.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bonnie++ btrfs-progs ca-certificates chromium e2fsprogs fio fonts-dejavu-core gcc git libc6-dev make sysbench \
        time util-linux xfsprogs \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home kit \
    && install --directory --owner=kit --group=kit /kit

# Nothing of it needs root but filesystems on loop devices: docker run --user root --privileged
USER kit
WORKDIR /kit
# The packages are a layer of their own, which lasts until their lock changes.
COPY --chown=kit:kit Makefile pyproject.toml requirements.lock README.md LICENSE ./
COPY --chown=kit:kit fsbench_kit/__init__.py fsbench_kit/
COPY --chown=kit:kit notebooks notebooks
COPY --chown=kit:kit plans plans
COPY --chown=kit:kit raw_results raw_results
RUN make .venv/.ready
COPY --chown=kit:kit . .
ENV PATH="/kit/.venv/bin:$PATH" FSBENCH_NO_INSTALL=1
RUN git init --quiet && git add --all && git -c user.name=kit -c user.email=kit@localhost commit --quiet --message=kit
CMD ["make", "test"]
