# The lab on a GPU, for `docker build -t lab .` or a cloud's template. The driver of the host must be
# 580 or newer; the base holds cuda-compat for older ones of a data center's cards.
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
# gcc, make and Python's headers: torch.compile and Triton build kernels on the card.
# Ubuntu keeps the newest version of a package alone, so none is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		ca-certificates gcc g++ git make python3 python3-dev python3-venv \
	&& rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1001 lab && install -d -o lab -g lab /cache /home/lab/lab /home/lab/lab/runs
USER 1001
WORKDIR /home/lab/lab
# Models, problem sets and compiled kernels outlive a container.
ENV HF_HOME=/cache/huggingface \
	TORCHINDUCTOR_CACHE_DIR=/cache/inductor \
	TRITON_CACHE_DIR=/cache/triton \
	VLLM_CACHE_ROOT=/cache/vllm \
	PIP_NO_CACHE_DIR=1
COPY --chown=lab:lab . .
# LAB_DEVICE: a machine that builds an image has no GPU, and the one that runs it has.
RUN LAB_DEVICE=cuda make setup-llm
VOLUME ["/cache", "/home/lab/lab/runs"]
# What it measures is in the volume: copy it to data/results/gpu of a checkout.
CMD [".venv/bin/lab", "rehearse", "--out", "runs/gpu"]
