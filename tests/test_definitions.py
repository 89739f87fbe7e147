"""What a module defines and names, read from its source: enough, and no more than what counts."""

import ast

import pytest

from lab.runs.provenance import ROOT
from lab.show.definitions import Definition, names_in, parse


def definition(source: str, name: str) -> Definition:
    module = parse("lab.m", source)
    return Definition(f"lab.m.{name}", module, module.statements[name])


@pytest.mark.parametrize(
    "source, named",
    [
        ("import lab\ndef f(): return lab.weights.bias(1)", {"lab.weights.bias"}),
        ("import lab\ndef f(): return lab.weights.bias.x", {"lab.weights.bias.x"}),
        ("import lab.stats as s\ndef f(): return s.iqm", {"lab.stats.iqm"}),
        ("from lab import stats\ndef f(): return stats.iqm(1).low", {"lab.stats.iqm"}),
        ("from lab.stats import iqm as mean\nf = mean", {"lab.stats.iqm"}),
        ("def g(): pass\ndef f(): return g()", {"lab.m.g"}),
        ("g = 1\ndef f(g): return g", set()),
        ("g = 1\ndef f():\n    g = 2\n    return g", set()),
        ("g = 1\ndef f(): return [g for g in ()]", set()),
        ("g = 1\ndef f():\n    def h(): return g\n    return h", {"lab.m.g"}),
        ("g = 1\nclass f:\n    def h(self): return g", {"lab.m.g"}),
        ("g = 1\n@g\ndef f(): pass", {"lab.m.g"}),
        ("g = 1\ndef f(x=g): pass", {"lab.m.g"}),
        ("class g: pass\ndef f(x: g) -> g: pass", set()),
        ("def f():\n    from lab.stats import iqm\n    return iqm", {"lab.stats.iqm"}),
        ("def f():\n    import lab.stats as s\n    return s.iqm", {"lab.stats.iqm"}),
        ("from lab import stats\ndef f(): return g(stats)", {"lab.stats"}),
        ("from lab import g\nif g: g = 1\ndef f(): return g", {"lab.m.g"}),
    ],
)
def test_a_definition_names_what_it_reads_from_elsewhere(source, named):
    assert definition(source, "f").named == named


@pytest.mark.parametrize(
    "source",
    [
        "X = {}\nX['a'] = 1",
        "X = {}\nX.update(a=1)",
        "X = {}\nX |= {'a': 1}",
        "X = {}\nfor name in ('a',):\n    X[name] = 1",
        "if True:\n    X = {}\nelse:\n    X = {'a': 1}",
        "try:\n    import X\nexcept ImportError:\n    X = None",
        "X = None\nif True:\n    def X(): return 1",
    ],
)
def test_every_statement_that_may_change_a_name_belongs_to_it(source):
    assert ast.unparse(definition(source, "X").nodes[-1]) == ast.unparse(ast.parse(source).body[-1])


def test_a_module_defines_no_name_that_it_only_reads():
    module = parse("lab.m", "import sys\nif sys.argv:\n    X = all(sys.path)\nX.update(y)")
    assert module.statements.keys() == {"X"} and len(module.statements["X"]) == 2


@pytest.mark.parametrize(
    "other, same",
    [
        ('def f(x):\n    """Other words."""\n    return x  # and a comment', True),
        ("def f(x: int) -> int:\n\n    return (x)", True),
        ("def f(x):\n    return x + 0", False),
        ("def f(x=None):\n    return x", False),
        ("def f(x):\n    return None", False),
        ("def f(x):\n    'a string'\n    'another'\n    return x", False),
    ],
)
def test_the_content_is_the_code_without_comments_layout_docstrings_and_types(other, same):
    content = definition("def f(x):\n    return x", "f").content
    assert (definition(other, "f").content == content) == same


@pytest.mark.parametrize(
    "text, names",
    [
        ("maxrl", {"maxrl"}),
        ("grpo(ddof=1)", {"grpo"}),
        ("0.25 * log_odds", {"log_odds"}),
        ("rl + 0.5 * ml", {"rl", "ml"}),
        ("RL counts every problem the same", set()),
        ("pass@1", set()),
        ("", set()),
        ("\0", set()),
    ],
)
def test_a_text_holds_names_if_it_is_an_expression(text, names):
    assert names_in(text) == names


def test_the_words_of_a_definition_are_in_its_strings_the_formatted_ones_included():
    source = 'f = ("grpo", f"truncated(order={T})", {"maxrl": 1}, f"{name}_loo")'
    assert {"grpo", "truncated", "maxrl"} <= definition(source, "f").words
    assert definition('def f():\n    """rl"""', "f").words == set()


def test_the_lab_is_written_so_that_it_can_be_followed():
    """No relative imports and no stars: what a name stands for is read off its import."""
    for path in [*(ROOT / "lab").rglob("*.py"), *(ROOT / "figures").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0 and node.names[0].name != "*", path
