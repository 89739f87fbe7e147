"""The verdicts, the processes behind them, and what a hostile response can and cannot do."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import hostile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import LabError, Rollout, make_groups
from lab.judge import verifier as verifier_module
from lab.judge import worker_pool
from lab.judge.extract import is_readable, normalize
from lab.judge.sympy_worker import WARM
from lab.judge.verifier import OUTCOMES, Verifier, decide_exactly, verify

needs_math_verify = pytest.mark.skipif(
    find_spec("math_verify") is None, reason="math-verify is not installed"
)


def needs_algebra(test):
    """For what the workers do: nothing is settled before them."""
    return needs_math_verify(pytest.mark.usefixtures("algebra_alone")(test))


LATE = "9^{9^{9^9}}"  # no comparison with a number ends


@pytest.fixture(scope="module")
def verifier():
    with Verifier(workers=2, error_limit=1.0) as one:
        yield one


@pytest.fixture(scope="module")
def patient():
    """For answers that are known to end, some of them after more than a second."""
    with Verifier(seconds=60, workers=2) as one:
        yield one


@pytest.fixture(scope="module")
def single():
    """One worker, with half a second."""
    with Verifier(seconds=0.5, workers=1) as one:
        yield one


@pytest.fixture
def algebra_alone(monkeypatch):
    monkeypatch.setattr(verifier_module, "settle", lambda answer, gold: None)
    monkeypatch.setattr(verifier_module, "is_endless", lambda answer: False)


@pytest.fixture
def no_process(monkeypatch):
    monkeypatch.setattr(worker_pool, "Worker", lambda *_: pytest.fail("a process was started"))


def box(text: str) -> str:
    return rf"So it is \boxed{{{text}}}."


def pids(one: Verifier) -> list[int]:
    return [worker.process.pid for worker in one._pool.workers]


def lives(pid: int) -> bool:
    """A zombie that waits for whoever reaps orphans is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def megabytes(pid: int | str, what: str) -> float:
    """A process that has ended, and is still listed, has none."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next((line for line in lines if line.startswith(what)), "none 0").split()[1]) / 1024


def gone(processes: list[int], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(map(lives, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(lives, processes))


# --- Verdicts that need no process --------------------------------------------------------------


@pytest.mark.parametrize(
    "response, gold, reason",
    [
        (box("5"), "5", "exact"),
        (box("05.0"), "5", "exact"),
        (box(r"\frac{6}{8}"), "0.75", "exact"),
        (box("1,234"), "1234", "exact"),
        (box(r"5\text{ cm}"), "5", "exact"),
        (box(r"10\%"), "10", "exact"),
        (box(r"\text{Monday}"), "Monday", "exact"),
        (box("x^{2}"), "$x^2$", "exact"),
        (box("5"), r"\boxed{5}", "exact"),
        (box("北京"), "北京", "exact"),
        (box("5"), "6", "different"),
        (box("0.333333"), "1/3", "different"),
        (box(r"10\%"), "0.1", "exact"),
        ("5", "5", "no answer"),
        (r"\boxed{}", "5", "no answer"),
        (r"\boxed{5", "5", "no answer"),
        (box("$"), "5", "no answer"),
        (box(r"\%"), "$", "no answer"),
        (box("1" * 501), "1" * 501, "too long"),
        (box("int('5')"), "5", "unreadable"),
        (box("5\u202e"), "5", "unreadable"),
        (box("(" * 30 + "5" + ")" * 30), "5", "unreadable"),
        (box("5"), "", "unreadable gold"),
        (box("5"), "f'(x)", "unreadable gold"),
        (box("x"), "1" * 600, "unreadable gold"),
    ],
)
def test_arithmetic_alone_decides_plain_cases(no_process, response, gold, reason):
    with Verifier() as one:
        (verdict,) = one.check([response], [gold])
    assert (verdict.reason, verdict.outcome) == (reason, OUTCOMES[reason])


def test_a_lenient_verifier_also_takes_what_is_not_boxed(no_process):
    assert verify("It makes 5.", "5", "lenient").outcome == "right"
    assert verify("It makes 5.", "5", "strict").reason == "no answer"
    assert verify(r"\boxed{6}, or 5", "5", "lenient").reason == "different"


def test_a_verdict_gives_the_reward_of_a_rollout_and_an_error_a_lost_one(no_process):
    with Verifier() as one:
        verdicts = one.check([box("5"), box("6"), box("7")], ["5", "5", "f'"])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, None]
    (group,) = make_groups(
        [Rollout("p", i, verdict.reward) for i, verdict in enumerate(verdicts)], "score"
    )
    assert (group.N, group.K) == (2, 1)


def test_a_verdict_names_the_answer_that_was_found(no_process):
    assert (
        verify(box(r" \frac{1}{2} "), "0.5").answer == r"\frac{1}{2}"
        and verify("?", "5").answer is None
    )


@pytest.mark.parametrize(
    "responses, golds, sentence",
    [
        (["a"], [], "1 responses and 0 golds: give every response its gold answer"),
        (["a", None], ["1", "2"], "response 1 is None: it must be text; leave lost rollouts out"),
        (["a"], [5], "gold 0 is 5: it must be text"),
    ],
)
def test_wrong_input_is_refused(responses, golds, sentence):
    with Verifier() as one, pytest.raises(LabError, match=sentence):
        one.check(responses, golds)


@pytest.mark.parametrize(
    "setting, sentence",
    [
        ({"style": "loose"}, "style = 'loose': it must be one of 'strict', 'lenient'"),
        ({"seconds": 0}, "seconds = 0"),
        ({"workers": 0}, "workers = 0"),
        ({"error_limit": 2}, "error_limit = 2"),
        ({"memory": 0.5}, "memory = 0.5"),
    ],
)
def test_settings_out_of_range_are_refused(setting, sentence):
    with pytest.raises(LabError, match=sentence):
        Verifier(**setting)


def test_without_math_verify_plain_answers_work_and_the_rest_says_what_to_install(monkeypatch):
    monkeypatch.setattr(worker_pool.importlib.util, "find_spec", lambda name: None)
    assert verify(box("x+1"), "1+x").outcome == "right"
    with pytest.raises(
        LabError,
        match=r"comparing 'x' with .*bmod 3' needs math-verify.*pip install -c \S+ -e '\.\[llm\]'",
    ):
        verify(box("x"), r"x \bmod 3")


# --- Verdicts by algebra ------------------------------------------------------------------------

EQUIVALENT = [
    ("(x+1)^2", "x^2+2x+1"),
    (r"2\sqrt{2}", r"\sqrt{8}"),
    (r"\pi/2", r"\frac{\pi}{2}"),
    ("1,2", "2, 1"),
    ("x=5", "5"),
    (r"\{1,2\}", "2,1"),
    ("x>3", "3<x"),
    ("5!", "120"),
    (r"\log_2 8", "3"),
    (r"\pm 3", "-3,3"),
    ("2^{10}", "1024"),
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    (r"\binom{5}{2}", "10"),
    ("(1,2)", r"\left(1,2\right)"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix} 1 \\ \frac{4}{2} \end{pmatrix}"),
    (r"3\times 4", "12"),
]
DIFFERENT = [
    ("x^2", "x^2+1"),
    ("(1,2)", "(2,1)"),
    ("[1,2)", "[1,2]"),
    (r"\sqrt{2}", "1.41"),
    ("y=5", "x=5"),
    ("x>3", "x<3"),
    ("1,2", "1,3"),
    (r"\text{Monday}", r"\text{Tuesday}"),
    ("B", r"\text{(A)}"),
    ("1/0", "5"),
    ("2", r"\pi"),
]


@needs_algebra
def test_algebra_finds_equal_what_is_equal_and_only_that(patient):
    pairs = EQUIVALENT + DIFFERENT
    verdicts = patient.check([box(answer) for answer, _ in pairs], [gold for _, gold in pairs])
    right = [verdict.outcome == "right" for verdict in verdicts]
    assert right == [True] * len(EQUIVALENT) + [False] * len(DIFFERENT)
    assert {verdict.reason for verdict in verdicts} == {"exact", "equivalent", "different"}


@needs_algebra
def test_verdicts_come_in_the_order_of_the_answers(patient):
    answers = [f"x+{i % 7}" if i % 3 else f"{i % 7}" for i in range(60)]
    verdicts = patient.check([box(answer) for answer in answers], ["3+x", "3"] * 30)
    expected = [answer == ("3" if i % 2 else "x+3") for i, answer in enumerate(answers)]
    assert [verdict.outcome == "right" for verdict in verdicts] == expected


@needs_algebra
def test_equal_pairs_are_compared_once(patient, monkeypatch):
    sent, send = [], worker_pool.Worker.send
    monkeypatch.setattr(
        worker_pool.Worker,
        "send",
        lambda self, pair, *rest: (sent.append(pair), send(self, pair, *rest)),
    )
    verdicts = patient.check([box("x+1"), box(r"\left. x+1 \right.")] * 500, ["1 + x"] * 1000)
    assert {verdict.reason for verdict in verdicts} == {"equivalent"} and len(sent) == len(
        set(sent)
    ) <= 2


TWO_STAGES = """
import logging
from math_verify import LatexExtractionConfig, parse
from math_verify import parser
from lab.judge.sympy_worker import prepare
logging.disable()
texts = TEXTS
def read():
    parser.parse_latex_cached.cache_clear(), parser.extract_latex.cache_clear()
    config = [LatexExtractionConfig()]
    return [repr(parse("\\\\boxed{" + t + "}", config, parsing_timeout=None)) for t in texts]
before = read()
prepare()
after = read()
assert before == after, [pair for pair in zip(texts, before, after) if pair[1] != pair[2]]
assert len(set(before)) > 0.8 * len(texts) and parser.latex2sympy.__name__ == "staged"
"""


@needs_algebra
def test_two_stage_prediction_reads_every_text_as_before():
    texts = sorted({text for pair in EQUIVALENT + DIFFERENT for text in pair})
    texts += [
        "x^2+31x+109",
        r"\frac{1}{",
        "((",
        "a b",
        r"f(x)=x^2",
        r"(-\infty,3)\cup[5,7]",
        r"x\in\{1,2\}",
        r"\sin^2 x",
        r"|x-1|",
        r"\lfloor x\rfloor",
        "1 2",
    ]
    code = TWO_STAGES.replace("TEXTS", repr(texts))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


# --- Late, dead, greedy -------------------------------------------------------------------------


@needs_algebra
def test_a_hanging_answer_is_wrong_after_one_second(verifier, returned):
    verifier.check([box("x"), box("y")], ["x+1", "y+1"])  # start them
    before = pids(verifier)
    start = time.monotonic()
    (verdict,) = returned(lambda: verifier.check([box(LATE)], ["5"]))
    assert (verdict.outcome, verdict.reason, verdict.reward) == ("wrong", "timeout", 0.0)
    assert time.monotonic() - start >= 1.0
    (killed,) = set(before) - set(pids(verifier))
    assert not lives(killed)


@needs_algebra
def test_time_is_the_cpu_time_of_the_worker_so_that_a_busy_machine_changes_no_verdict(single):
    """A stopped worker is one that gets no core: it waits thrice its limit and is right all the
    same."""
    single.check([box("x")], ["x+1"])  # start it
    (pid,) = pids(single)
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1.5, os.kill, (pid, signal.SIGCONT)).start()
    assert single.check([box("x+1")], ["1+x"])[0].reason == "equivalent"
    assert pids(single) == [pid]


@needs_algebra
def test_a_worker_that_does_nothing_at_all_is_late_on_the_clock(single, returned, monkeypatch):
    single.check([box("x")], ["x+1"])
    monkeypatch.setattr(single._pool, "seconds", 1.0)  # of wall time, a minute else
    (pid,) = pids(single)
    os.kill(pid, signal.SIGSTOP)
    (verdict,) = returned(lambda: single.check([box("x+1")], ["1+x"]))
    assert (verdict.outcome, verdict.reason) == ("wrong", "timeout") and not lives(pid)


@needs_algebra
def test_the_answers_after_a_hanging_one_are_still_judged(verifier):
    verdicts = verifier.check(
        [box(LATE), *(box(f"x+{i}") for i in range(20))], ["5"] + ["x+3"] * 20
    )
    assert [verdict.reason for verdict in verdicts[:1]] == ["timeout"]
    assert [verdict.outcome for verdict in verdicts[1:]] == ["wrong"] * 3 + ["right"] + [
        "wrong"
    ] * 16


@needs_algebra
def test_a_worker_killed_at_work_is_asked_again_and_one_killed_at_rest_is_replaced(verifier):
    verifier.check([box("x"), box("y")], ["x+1", "y+1"])
    for pid in pids(verifier):
        os.kill(pid, signal.SIGKILL)
    assert gone(pids(verifier), 1.0)
    assert verifier.check([box("x+1")], ["1+x"])[0].reason == "equivalent"

    def kill():
        while not (busy := [worker for worker in verifier._pool.workers if worker.request]):
            time.sleep(0.01)
        time.sleep(0.1)
        busy[0].process.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    assert verifier.check([box(LATE)], ["5"])[0].reason == "timeout"
    killer.join()
    assert verifier.check([box("x+1")], ["1+x"])[0].reason == "equivalent"


@needs_algebra
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds an address space")
def test_an_answer_that_needs_too_much_memory_is_wrong():
    with Verifier(seconds=30, workers=1, memory=256, error_limit=1.0) as one:
        verdicts = one.check([box("2^{8589934592}"), box("x+1")], ["5", "1+x"])
    assert [(v.reason, v.reward) for v in verdicts] == [("memory", 0.0), ("equivalent", 1.0)]


@needs_algebra
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds an address space")
def test_a_worker_that_cannot_start_is_refused_and_not_tried_for_ever():
    with (
        Verifier(memory=40) as one,  # too little for the first import; with 60 the end may hang
        pytest.raises(LabError, match="3 workers did not start.*more than 40 MiB"),
    ):
        one.check([box("x")], ["y"])
    assert pids(one) == []


@needs_algebra
def test_many_threads_may_share_a_verifier(patient):
    found = {}

    def work(i):
        found[i] = [
            verdict.outcome for verdict in patient.check([box(f"x+{i}"), box("5")], [f"{i}+x", "6"])
        ]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: ["right", "wrong"] for i in range(6)}


# --- Nothing is left behind ---------------------------------------------------------------------


@needs_algebra
def test_leaving_the_with_leaves_no_process_and_a_closed_verifier_starts_anew():
    with Verifier(workers=2) as one:
        one.check([box("x"), box("y")], ["x+1", "y+1"])
        started = pids(one)
        assert len(started) == 2 and all(map(lives, started))
    assert not any(map(lives, started))
    assert one.check([box("1+x")], ["x+1"])[0].outcome == "right"
    one.close()


ORPHANS = """
from lab.judge import verifier
verifier.settle, verifier.is_endless = lambda *_: None, lambda _: False
verifier = verifier.Verifier(workers=2, seconds=1.0, error_limit=1.0)
verifier.check([r"\\boxed{x}", r"\\boxed{y}"], ["x+1", "y+1"])
print(*(worker.process.pid for worker in verifier._pool.workers), flush=True)
verifier.check([r"\\boxed{9^{9^{9^9}}}"], ["5"])
"""


@needs_algebra
def test_workers_die_with_a_killed_parent_be_they_idle_or_hanging(start):
    parent = start("-c", ORPHANS)
    started = [int(word) for word in parent.process.stdout.readline().split()]
    assert len(started) == 2 and all(map(lives, started))
    time.sleep(0.3)  # one of them hangs now
    parent.kill()
    assert gone(started, 120.0)  # a second of CPU time, which a busy machine gives slowly


# --- The share of errors ------------------------------------------------------------------------


def test_errors_above_the_limit_stop_the_run_and_say_why(no_process):
    with Verifier() as one:
        assert (
            one.check([box("5")] * 98 + [box("x")] * 2, ["5"] * 98 + ["f'"] * 2)[-1].outcome
            == "error"
        )
        assert one.error_rate == 0.02
        with pytest.raises(LabError) as error:
            one.check([box("x")], ["g'"])
    assert (
        str(error.value)
        == "3 of 101 answers could not be judged, for example 'x' against the gold \"g'\""
        " (unreadable gold): the limit is 2.0%; skip the golds that Verifier.unparsable names,"
        " give more seconds, or raise error_limit"
    )


def test_fewer_than_fifty_checks_have_no_rate(no_process):
    with Verifier() as one:
        assert {verdict.outcome for verdict in one.check([box("x")] * 49, ["f'"] * 49)} == {"error"}
        with pytest.raises(LabError, match="49 of 50 answers"):
            one.check([box("5")], ["5"])


def test_old_errors_are_forgotten(no_process):
    with Verifier() as one:
        one.check([box("x")] * 10, ["f'"] * 10)
        one.error_limit = 1.0
        one.check([box("5")] * 1000, ["5"] * 1000)
        assert one.error_rate == 0.0


def test_endless_answers_are_wrong_at_once_and_stop_nothing(no_process):
    endless = [LATE, f"{LATE}+i", "1e999999999", "5!!!!!", r"\binom{10^9}{10^8}", "x^{x^{9999999}}"]
    with Verifier(error_limit=0.0) as one:
        verdicts = one.check(
            [box(f"{text}+{i}") for text in endless for i in range(20)], ["5"] * 120
        )
        # A gold that only math-verify reads gives them no longer a life.
        verdicts += one.check([box(text) for text in endless[:2]], [r"x \bmod 3"] * 2)
    assert {(verdict.reason, verdict.reward) for verdict in verdicts} == {("unreadable", 0.0)}


@needs_algebra
def test_late_answers_do_not_count_as_errors_and_late_golds_do():
    with Verifier(seconds=0.3, workers=1, error_limit=0.0) as one:
        verdicts = one.check([box(LATE)] * 60, ["5"] * 60)
        assert {(verdict.reason, verdict.reward) for verdict in verdicts} == {("timeout", 0.0)}
        with pytest.raises(LabError, match=r"50 of 110 answers.*\(unreadable gold\)"):
            one.check([box("x")] * 50, [r"\gcd(9^{9^9},3)"] * 50)


@needs_math_verify
def test_golds_that_cannot_serve_are_found_without_a_hang(verifier, returned):
    golds = [
        "5",
        "x^2",
        "",
        r"\frac{1",
        "1/0",
        "Monday",
        "北京",
        r"\int x dx",
        r"\boxed{7}",
        "f'(x)",
        r"\gcd(9^{9^9},3)",
        "1" * 600,
        "(1,2)",
    ]
    assert returned(lambda: verifier.unparsable(golds)) == {
        2: "unreadable gold",
        3: "unreadable gold",
        4: "unreadable gold",
        7: "unreadable gold",
        9: "unreadable gold",
        10: "unreadable gold",
        11: "unreadable gold",
    }


# --- Hostile responses --------------------------------------------------------------------------


@needs_math_verify
@pytest.mark.parametrize("judges", ["both", "algebra alone"])
def test_no_hostile_response_is_right_or_hangs_or_crashes_or_runs_or_fills_the_memory(
    judges, tmp_path, monkeypatch, request, returned
):
    if judges == "algebra alone":
        request.getfixturevalue("algebra_alone")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_SECRET", "kept from workers")
    responses = hostile.responses()
    before, most = megabytes("self", "VmRSS"), 0.0
    # Seven of them never end, the slowest of the others takes 0.3 s.
    with Verifier(seconds=0.7, workers=2, error_limit=1.0) as one:
        compare = one._pool.compare

        def watched(pairs):
            nonlocal most
            for reply in compare(pairs):
                for pid in pids(one):
                    most = max(most, megabytes(pid, "VmHWM"))
                    with suppress(ProcessLookupError):  # its time was up just now
                        assert b"SECRET" not in Path(f"/proc/{pid}/environ").read_bytes()
                yield reply

        monkeypatch.setattr(one._pool, "compare", watched)
        start = time.monotonic()
        verdicts = returned(lambda: one.check(responses, ["5"] * len(responses)))
        seconds = time.monotonic() - start
        reasons = [verdict.reason for verdict in verdicts]
        assert not [
            response[:60]
            for response, reason in zip(responses, reasons, strict=True)
            if OUTCOMES[reason] == "right"
        ]
        assert {"unreadable", "different", "no answer", "too long"} <= set(reasons)
        assert ("timeout" in reasons) == (judges == "algebra alone")
        assert "crash" not in reasons
        assert one.check([box("x+1")], ["1+x"])[0].outcome == "right"
    print(
        f"{len(responses)} responses, {reasons.count('timeout')} killed, {seconds:.1f} s; workers'"
        f" largest memory {most:.0f} MiB, parent's growth"
        f" {megabytes('self', 'VmRSS') - before:.0f} MiB"
    )
    assert most < 512 and megabytes("self", "VmRSS") - before < 200
    assert hostile.MARK not in os.environ and not list(tmp_path.rglob("*"))


@needs_algebra
def test_a_lenient_verifier_finds_nothing_right_in_hostile_text_either(verifier):
    verdicts = [
        decide_exactly(inside, "5") for inside in (*hostile.CODE, *hostile.FORMS, *hostile.HUGE)
    ]
    assert "exact" not in verdicts


WATCHED = """
import sys
sys.path.insert(0, TESTS)
import hostile, logging
from lab.judge.sympy_worker import WARM, compare, prepare
logging.disable()
prepare()
for pair in WARM: compare(*pair)
seen = []
RUNS = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.putenv", "subprocess.Popen",
        "socket.connect", "shutil.")
def hook(event, given):
    # sympy's own text
    if event == "compile" and given[0] is not None and b"def monomial_" not in bytes(given[0]):
        seen.append((event, bytes(given[0])[:80]))
    if event == "open" and set(str(given[1])) & set("wax+"): seen.append((event, given[0]))
    if event.startswith(RUNS): seen.append((event, given))
sys.addaudithook(hook)
if CONTROL:
    from sympy import sympify
    sympify("2+3")
PLAIN = ["1,234", "1.5", "1E400", "5!", "x_{12}", "\\sqrt[3]{5}", "[1,2.5)", "007", "10\\%", "f(2)"]
for text in [] if CONTROL else [*hostile.CODE, *PLAIN]:
    compare(text, "5"), compare("x+1", text)
print(*seen, sep="\\n", file=sys.stderr)
sys.exit(3 if seen else 0)
"""


@needs_algebra
@pytest.mark.parametrize("control", [False, True])
def test_no_text_is_compiled_even_where_the_filter_is_left_out(control, tmp_path):
    """An audit hook sees every compilation of text, process, write and connection; sympify is the
    control.
    """
    code = WATCHED.replace("TESTS", repr(str(Path(__file__).parent))).replace(
        "CONTROL", str(control)
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert found.returncode == (3 if control else 0), found.stderr
    assert not list(tmp_path.iterdir())


@needs_algebra
def test_a_worker_can_write_no_file(tmp_path):
    code = (
        "from lab.judge import sympy_worker; import sys, pathlib\n"
        "sympy_worker.compare = lambda *_: 'wrote ' +"
        f" str(pathlib.Path({str(tmp_path / 'x')!r}).write_text('x' * 9))\nsympy_worker.WARM ="
        " ()\nwork = sympy_worker.work('5.0', '1024')\nprint(next(work), flush=True)\n"
        "print(work.send(['x', 'y']))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "ready\n" and "File too large" in found.stderr


PIECES = [
    *"0123456789+-*/^_=(){}[]<>!|,.&: xyzabEeif",
    r"\frac",
    r"\sqrt",
    r"\pi",
    r"\cdot",
    r"\text",
    r"\{",
    r"\}",
    r"\cup",
    r"\in",
    r"\infty",
    r"\sin",
    r"\log",
    r"\binom",
    r"\begin{pmatrix}",
    r"\end{pmatrix}",
    r"\\ ",
    r"\pm",
]


@needs_algebra
@settings(derandomize=True, max_examples=8, deadline=None, database=None)
@given(
    st.lists(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join),
        min_size=25,
        max_size=25,
    )
)
def test_random_formulas_have_a_verdict_and_none_is_right(verifier, returned, answers):
    boxed, golds = [box(answer) for answer in answers], ["z^{7919}+17"] * len(answers)
    verdicts = returned(lambda: verifier.check(boxed, golds))
    assert not [verdict for verdict in verdicts if verdict.outcome == "right"]


@needs_algebra
def test_a_worker_does_not_grow_over_hundreds_of_answers(patient):
    pairs = [(f"{i}x+{i * i}", f"{i}(x+{i})") for i in range(1, 301)]
    assert {
        v.outcome for v in patient.check([box(a) for a, _ in pairs], [g for _, g in pairs])
    } == {"right"}
    assert max(megabytes(pid, "VmHWM") for pid in pids(patient)) < 160


@needs_algebra
@pytest.mark.parametrize("pair", WARM)
def test_the_comparisons_that_warm_a_worker_up_are_readable(pair):
    assert all(is_readable(normalize(text)) for text in pair)
