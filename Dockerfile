# The workflow with its packages and a CmdStan. It works in a folder of yours, and copies config/ there if it has none:
#   docker build --tag formalsynth .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/study" formalsynth --cores 4
FROM python:3.12.15-slim-bookworm@sha256:34386ef0cb081344d7ec1c103ba398e6e9f64e9ab3a1509accc92a4e24a07258

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /formalsynth
COPY Makefile Snakefile pyproject.toml requirements.txt ./
COPY config config/
COPY docs/proofs docs/proofs/
COPY profiles profiles/
COPY release release/
COPY resources resources/
COPY stan stan/
COPY workflow workflow/

# CmdStan goes below the home folder, which must be one that every user can read.
RUN HOME=/opt PIP_NO_CACHE_DIR=1 make setup BYTECODE=--compile \
    && ln -s /opt/.cmdstan/cmdstan-* /opt/cmdstan

# Who mounts a folder of theirs runs as themselves, with --user; nobody runs as root.
RUN useradd --uid 10001 --no-create-home formalsynth && install --directory --owner formalsynth /study
USER 10001

# A user without a home folder needs a cache elsewhere.
ENV CMDSTAN=/opt/cmdstan \
    PATH=/formalsynth/.venv/bin:$PATH \
    XDG_CACHE_HOME=/tmp/cache

WORKDIR /study
ENTRYPOINT ["sh", "-c", "[ -e config ] || cp -r /formalsynth/config . && exec snakemake --snakefile /formalsynth/Snakefile \"$@\"", "formalsynth"]
CMD ["--cores", "all"]
