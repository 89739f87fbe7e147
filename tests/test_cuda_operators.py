"""Every training on a pretended GPU: operators that CUDA has, one device, capturable graphs.

No GPU is needed and none is used: `pretended_gpu` carries the branches of a GPU out on a CPU, and
`cuda_table` asks torch's own table of operators what CUDA would have refused.
"""

from importlib import import_module

import numpy as np
import pytest
import torch
from cuda_table import LISTED, NAMES, entries_of, refused
from PIL import Image
from pretended_gpu import CUDA, Call, Graph, NotCapturable, OnGPU, PretendedGPU, WrongDevice
from short_answers import SHORT_ANSWERS

from lab.losses import SCORES, pacs
from lab.runs import rehearsal
from lab.runs.experiments import experiment
from lab.toy import image_data, images, maze, maze_env
from lab.toy.imagenet import ImageNet
from lab.toy.tree_sampling import CUDAGraphSampler
from lab.training.device import compute_device
from lab.training.records import records as records_of

pytestmark = pytest.mark.filterwarnings("ignore")


def complaints(gpu: PretendedGPU) -> list[str]:
    """What CUDA would have refused of all that ran; something must have run."""
    assert gpu.calls
    return [said for call in gpu.calls if (said := refused(call))]


def differentiated(gpu: PretendedGPU) -> set[str]:
    return {call.operator for call in gpu.calls if call.differentiated}


def operators(gpu: PretendedGPU) -> set[str]:
    return {call.operator for call in gpu.calls}


# --- The gate itself --------------------------------------------------------------------------


def held_out_by_a_product(mazes):
    """As it was: a product of matrices of whole numbers."""
    odd = np.random.default_rng(0).integers(1, 2**62, mazes.size**2) | 1
    key = mazes.walls.flatten(1).long() @ torch.from_numpy(odd).to(mazes.walls.device)
    return (key >> 32) % 32 == 0


def test_the_product_of_whole_numbers_that_ended_every_maze_on_a_gpu_is_found(monkeypatch):
    with PretendedGPU() as gpu:
        maze_env.MazeStream(7, 2, 0, "mazes", compute_device()).at(0)
    assert complaints(gpu) == []
    monkeypatch.setattr(maze_env, "is_held_out", held_out_by_a_product)
    with PretendedGPU() as gpu:
        maze_env.MazeStream(7, 2, 0, "mazes", compute_device()).at(0)
    [said] = complaints(gpu)
    assert "aten.mv" in said and "CUDA has no kernel for torch.int64" in said


@pytest.mark.parametrize(
    "operator, other",
    [
        ("mm", torch.int64),
        ("bmm", torch.int32),
        ("addmv", torch.int64),
        ("searchsorted", torch.bool),
        ("linalg_inv_ex", torch.float16),
        ("cumsum", torch.bool),
        ("binomial", torch.int64),
        ("_fused_adamw_", torch.int64),
    ],
)
def test_operators_that_cuda_has_for_other_types_alone_are_refused(operator, other):
    def call(kind):
        return Call(operator, "default", (("self", kind),), (kind,), False)

    assert refused(call(torch.float32)) is None
    assert f"CUDA has no kernel for {other}" in refused(call(other))


def test_an_operator_that_nobody_knows_is_refused():
    call = Call("no_such_operator", "default", (("self", torch.float32),), (torch.float32,), False)
    assert "neither torch's table nor" in refused(call)


def test_a_type_that_has_a_forward_pass_alone_is_refused_where_a_gradient_is_taken():
    for differentiated in (False, True):
        call = Call("special_i1", "default", (("self", torch.bfloat16),), (), differentiated)
        assert (refused(call) is not None) == differentiated
    passed_on = Call("mul", "Tensor", (("other", torch.bool), ("self", torch.float32)), (), True)
    assert refused(passed_on) is None  # a mask has no gradient, and passes beside what has one


def test_what_is_listed_by_hand_is_not_in_torchs_table_and_has_a_reason():
    for name, (kinds, why) in LISTED.items():
        assert not entries_of(name) and kinds and why, name
    for name, theirs in NAMES.items():
        assert any(
            entry.name == theirs or theirs in (entry.aten_name, entry.aten_backward_name)
            for entry in entries_of(name)
        ), name


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x + torch.arange(3.0),
        lambda x: torch.cat((x, torch.zeros(3))),
        lambda x: x.index_select(0, torch.arange(2)),
        lambda x: torch.stack((x.sum(), torch.tensor(1.0))),
        lambda x: torch.rand(3, device="cuda", generator=torch.Generator().manual_seed(0)),
        lambda x: x.uniform_(generator=torch.Generator("cpu")),
        lambda x: torch.nn.Linear(3, 3)(x),
    ],
)
def test_a_tensor_or_a_generator_of_the_other_device_is_refused(run):
    with PretendedGPU(), pytest.raises(WrongDevice):
        run(torch.ones(3, device="cuda"))


def test_what_cuda_allows_of_two_devices_is_allowed_and_numbers_are_right():
    with PretendedGPU():
        x = torch.arange(3.0, device="cuda")
        assert isinstance(x, OnGPU) and x.device == CUDA and x.is_cuda
        assert (x * torch.tensor(2.0)).tolist() == [0, 2, 4]
        assert x[torch.tensor([2, 0])].tolist() == [2, 0]
        x[0] = 5
        x[1:].copy_(torch.tensor([7.0, 8.0]))
        assert x.tolist() == [5, 7, 8] and x.cpu().device.type == "cpu"
        assert torch.zeros(3).copy_(x).numpy().tolist() == [5, 7, 8]
        queries = torch.rand(1, 2, 3, 4)
        there = torch.nn.functional.scaled_dot_product_attention(*[queries.to("cuda")] * 3)
        here = torch.nn.functional.scaled_dot_product_attention(*[queries] * 3)
        torch.testing.assert_close(there.cpu(), here)
        drawn = torch.rand(2, generator=torch.Generator("cuda").manual_seed(3), device="cuda")
        assert drawn.tolist() == torch.rand(2, generator=torch.Generator().manual_seed(3)).tolist()
        with pytest.raises(TypeError, match="use .cpu"):
            x.numpy()
        with torch.autocast("cuda", torch.bfloat16):
            layer = torch.nn.Linear(3, 2).to("cuda")
            assert layer(x).dtype == torch.bfloat16
        layer(x).sum().backward()
        assert layer.weight.grad.tolist() == [[5, 7, 8]] * 2
    assert not torch.cuda.is_available() or torch.zeros(1, device="cuda").is_cuda


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x.sum().item(),
        lambda x: bool(x.any()),
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.unique(),
        lambda x: x.masked_select(x > 0),
        lambda x: x.cpu(),
        lambda x: x + torch.tensor([1.0, 2.0, 3.0], device="cuda"),
        lambda x: torch.equal(x, x),
        lambda x: x.repeat_interleave(torch.arange(3, device="cuda")),
        lambda x: torch.rand(3, generator=torch.Generator("cuda"), device="cuda"),
    ],
)
def test_what_a_captured_graph_cannot_hold_is_refused(run):
    with PretendedGPU():
        x = torch.ones(3, device="cuda")
        run(x)
        with pytest.raises(NotCapturable), torch.cuda.graph(Graph()):
            run(x)


def test_a_replayed_graph_reads_the_memory_of_its_capture_and_writes_there():
    with PretendedGPU():
        given = torch.ones(3, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            made = (given * 2).cumsum(0)
            made[0] += 1
        assert made.tolist() == [3, 4, 6]
        given.fill_(5)
        assert made.tolist() == [3, 4, 6]
        graph.replay()
        assert made.tolist() == [11, 20, 30]


def copied(record) -> dict:
    """The state of a record, which training goes on to change, as it is now."""
    return {key: value.clone() for key, value in record.state().items()}


# --- Mazes ------------------------------------------------------------------------------------


def maze_records(**given) -> list:
    """The last record of the start and those of reinforcement learning, with their states."""
    config = experiment("maze").configure("smoke", {"start_steps": 2, "steps": 2} | given)
    before = experiment("maze").before
    *_, last = before.train(before.part_of(config), None)
    records = [(last, copied(last))]
    for record in records_of(experiment("maze").train(config, None, start=last.state())):
        records.append((record, copied(record)))
    again = {key: value.cpu() for key, value in records[-2][1].items()}
    resumed = [
        record.metrics
        for record in records_of(experiment("maze").train(config, again, start=last.state()))
    ]
    assert resumed[-1] == records[-1][0].metrics
    return records


@pytest.mark.parametrize(
    "given",
    [
        {"estimator": "maxrl"},
        {
            "estimator": "grpo(ddof=1)",
            "entropy_bonus": 0.01,
            "smoothing": 0.1,
            "greedy_filter": True,
            "precision": "bfloat16",
        },
        {"estimator": "maxrl", "precision": "bfloat16", "width": 32},  # heads of 8 numbers
    ],
)
def test_mazes_run_on_a_gpu_as_on_a_cpu(given, monkeypatch):
    replayed = []

    def replay(graph, real=Graph.replay):
        replayed.append(len(graph.steps))
        real(graph)

    monkeypatch.setattr(Graph, "replay", replay)
    with PretendedGPU() as gpu:
        records = maze_records(**given)
    assert complaints(gpu) == []
    fused = "width" in given
    assert {"embedding", "mm", "_log_softmax"} <= differentiated(gpu)
    assert fused == ("_scaled_dot_product_flash_attention_backward" in operators(gpu))
    assert fused != ({"bmm", "_softmax"} <= differentiated(gpu))
    assert {"embedding_dense_backward", "_foreach_addcdiv_", "_foreach_norm"} <= operators(gpu)
    fewest = 300 if fused else 500
    assert len(replayed) > 4 and min(replayed) > fewest  # sampling was captured and replayed
    kinds = {kind for call in gpu.calls if call.operator == "mm" for _, kind in call.operands}
    assert kinds == {torch.bfloat16 if "precision" in given else torch.float32}
    expected = maze_records(**given)
    for (one, _), (other, _) in zip(records, expected, strict=True):
        for name in one.metrics.keys() - {"tokens a forward row", "log-probability mismatch"}:
            near = 0.1 if "precision" in given else 1e-4  # in bfloat16 a token may differ
            assert one.metrics[name] == pytest.approx(other.metrics[name], rel=near, abs=near), name


@pytest.mark.parametrize("given", [{}, {"precision": "bfloat16", "width": 32}])
def test_rollouts_are_captured_once_a_shape_and_need_nothing_of_the_host(given):
    with PretendedGPU() as gpu:
        config = experiment("maze").configure("smoke", given)
        shape = maze.transformer_config(config.width, config.layers, config.positions)
        model = maze.fresh_transformer(0, shape)
        policy = maze.make_policy(model, config)
        grid, said = policy.show(0, 3)
        assert len(said) == 3 and "#" in grid
        policy.evaluate()
        assert all(isinstance(one, CUDAGraphSampler) for one in policy.graph_samplers.values())
        assert len(policy.graph_samplers) == 2
    assert complaints(gpu) == []


@pytest.mark.parametrize("given", [{}, {"precision": "bfloat16", "width": 32}])
def test_the_first_hour_on_a_gpu_compares_the_ways_to_sample_and_to_attend(given, monkeypatch):
    def cut(*named, real=rehearsal._cut):
        return real(*named) | given

    monkeypatch.setattr(rehearsal, "_cut", cut)
    with PretendedGPU() as gpu:
        measured = rehearsal.measure_graph("maze", "smoke")
    assert complaints(gpu) == []
    assert measured["fused_attention"] == bool(given)
    assert measured["share_of_equal_tokens"] == 1 and all(value >= 0 for value in measured.values())
    assert measured["share_of_equal_tokens_plain"] > (0.9 if given else 0.999)
    near = 0.05 if given else 1e-5  # in bfloat16 each rounds in its own places
    assert measured["gradient_difference"] <= near


# --- Images -----------------------------------------------------------------------------------


@pytest.fixture
def few_pictures(monkeypatch):
    """A test set of 4 pictures, of 2 of which the gradient is taken."""

    def few(*given, real=image_data.ProceduralImages, **named):
        return real(*given, **named, test_images=4)

    monkeypatch.setattr(images, "ProceduralImages", few)
    monkeypatch.setattr(images, "SCORE_NORM_IMAGES", 2)


def image_records(**given) -> list:
    config = experiment("images").configure(
        "smoke",
        {"steps": 2, "log_every": 1, "batch": 4, "rollouts": 8, "classes": 10, "width": 4} | given,
    )
    told = records_of(experiment("images").train(config, None))
    records = [(record, copied(record)) for record in told]
    again = {key: value.cpu() for key, value in records[1][1].items()}
    *_, last = experiment("images").train(config, again)
    assert last.metrics == records[-1][0].metrics
    return records


@pytest.mark.parametrize(
    "given",
    [
        {"data": "digits", "estimator": "grpo", "optimizer": "adamw"},
        {"gradient": "sampled", "precision": "bfloat16"},
        {"gradient": "conditional", "gradient_norm": 1.0},
        {
            "gradient": "expected",
            "optimizer": "adamw",
            "gradient_norm": 1.0,
            "precision": "bfloat16",
        },
        {"gradient": "exact", "estimator": "ml"},
        {"gradient": "exact", "estimator": "power(a=0.5, b=0)", "precision": "bfloat16"},
    ],
)
def test_images_run_on_a_gpu(few_pictures, given):
    with PretendedGPU() as gpu:
        records = image_records(**given)
    assert complaints(gpu) == []
    assert {"convolution", "native_batch_norm", "_log_softmax"} <= differentiated(gpu)
    assert "convolution_backward" in operators(gpu)
    assert ("binomial" in operators(gpu)) == (
        given.get("gradient") in (None, "sampled", "conditional")
    )
    assert "score_norm" in records[-1][0].groups
    if given.get("gradient") in ("exact", "expected") and "precision" not in given:
        other = image_records(**given)[-1][0]
        assert records[-1][0].metrics["log-likelihood"] == pytest.approx(
            other.metrics["log-likelihood"], rel=1e-4
        )


@pytest.mark.parametrize("net", ["resnet18", "resnet50"])
def test_the_published_networks_run_on_a_gpu_in_its_layout(few_pictures, net, monkeypatch):
    layouts = set()

    def logits(world, forward, pictures, real=images.Images._logits):
        layouts.add(
            (
                world.layout,
                pictures.to(memory_format=world.layout).is_contiguous(
                    memory_format=torch.channels_last
                ),
            )
        )
        return real(world, forward, pictures)

    monkeypatch.setattr(images.Images, "_logits", logits)
    config = experiment("images").configure(
        "smoke", {"net": net, "precision": "bfloat16", "steps": 1, "batch": 2, "classes": 10}
    )
    with PretendedGPU() as gpu:
        for record in experiment("images").train(config, None):
            record.state()
    assert complaints(gpu) == [] and layouts == {(torch.channels_last, True)}
    kinds = {
        kind for call in gpu.calls if call.operator == "convolution" for _, kind in call.operands
    }
    assert torch.bfloat16 in kinds


def test_the_pictures_of_imagenet_are_cropped_on_a_gpu(tmp_path):
    for split in ("train", "val"):
        for name in ("a", "b"):
            (tmp_path / split / name).mkdir(parents=True)
            for at in range(2):
                Image.new("RGB", (20, 16 + at)).save(tmp_path / split / name / f"{at}.png")
    with PretendedGPU() as gpu:
        found = ImageNet(tmp_path, 0, 16, compute_device(), tmp_path / "cache", classes=2)
        pixels, labels = found.train_batch(0, 4)
        tested = list(found.test())
    assert pixels.is_cuda and labels.is_cuda and len(tested) == 1
    assert complaints(gpu) == [] and "grid_sampler_2d" in operators(gpu)


def test_the_tabular_world_stays_on_the_cpu():
    config = experiment("tabular").configure("smoke", {"steps": 2})
    with PretendedGPU() as gpu:
        told = records_of(experiment("tabular").train(config, None))
        metrics = [record.metrics for record in told]
    again = records_of(experiment("tabular").train(config, None))
    assert not gpu.calls and metrics == [record.metrics for record in again]


# --- Language models --------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
def test_the_loss_of_pacs_runs_on_a_gpu(score):
    with PretendedGPU() as gpu:
        ratio = torch.tensor([[0.1, -0.2, 0.3], [0.0, 0.1, 0.2]], device="cuda", requires_grad=True)
        rewards = torch.tensor([[1.0, 0.0, 0.0], [1.0, float("nan"), 0.0]], device="cuda")
        for actor in (False, True):
            pacs(ratio, rewards, score=score, balanced=actor, actor=actor).backward()
        assert ratio.grad.isfinite().all()
    assert complaints(gpu) == []


@pytest.fixture
def without_triton(monkeypatch):
    """TRL's kernels in Triton are compiled on a GPU; beside them it has the same in torch."""
    import_module("lab.llm.train.trl_trainer")  # while there is no GPU
    import trl.kernels.chunked_logprob
    import trl.trainer.utils

    for module in (trl.kernels.chunked_logprob, trl.trainer.utils):
        monkeypatch.setattr(module, "_use_triton", lambda device: False)
    from accelerate.state import AcceleratorState, GradientState, PartialState

    for state in (
        AcceleratorState,
        GradientState,
        PartialState,
    ):  # which remember the device of before
        monkeypatch.setattr(state, "_shared_state", {})


@pytest.mark.parametrize("path", ["trl", "loop"])
@pytest.mark.parametrize(
    "given",
    [
        {
            "estimator": "maxrl",
            "greedy_filter": True,
            "smoothing": 0.1,
            "entropy_bonus": 0.01,
            "kl": 0.1,
            "updates": 2,
            "micro_batch": 4,
        },
        {"estimator": "pacs", "reference_every": 1},
        {"estimator": "maxrl", "adapter": "lora", "kl": 0.1},
    ],
)
def test_a_language_model_is_trained_on_a_gpu_in_bfloat16(without_triton, given, path):
    from lab.llm.train import trainer

    given = SHORT_ANSWERS | {"steps": 2, "problems": 3, "trainer": path} | given
    config = experiment("gsm8k").configure("smoke", given)
    told = {}
    with PretendedGPU() as gpu:
        whole = records_of(trainer.train(config, None))
        records = [(record, copied(record)) for record in whole]
        again = {key: value.cpu() for key, value in records[1][1].items()}
        rest = records_of(trainer.train(config, again))
        told["resumed"] = [record.metrics for record in rest][-1]
    assert complaints(gpu) == []
    assert told["resumed"] == records[-1][0].metrics
    assert {"embedding", "mm", "_fused_adamw_"} <= operators(gpu)
    assert {torch.bfloat16} == {
        kind
        for call in gpu.calls
        if call.operator == "mm"
        for _, kind in call.operands
        if "addmm" not in call.operator
    }
    state = records[-1][1]
    assert all(weight.is_cuda for name, weight in state.items() if name.startswith("model/"))
    assert records[1][0].metrics["log-probability mismatch"] < 1
    assert 0 < records[1][0].metrics["train pass@1"] < 1


def test_gradient_norms_inside_a_set_of_rollouts_are_measured_on_a_gpu():
    config = experiment("inside").configure(
        "smoke", {"problems": 8, "rollouts": 8, "max_tokens": 24}
    )
    with PretendedGPU() as gpu:
        [record] = experiment("inside").train(config, None)
    assert complaints(gpu) == [] and "mm" in differentiated(gpu)
    [expected] = experiment("inside").train(config, None)
    assert record.metrics == pytest.approx(expected.metrics, rel=1e-3)
