"""How the code reads, in numbers: python tools/style.py [FOLDER ...] (default: lab).

| number | of what |
|---|---|
| tokens a line | tokens of a line that holds code, without comments and layout |
| long lines | lines of more than 100 columns |
| comments | lines with a comment, per 100 lines of code; docstrings do not count |
| generic names | assigned names that say nothing of what they hold, of all assigned names |
| lines | all lines of Python, by room of lab (its own files are the room ".") and of tests |
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

GENERIC = frozenset(
    "asked at both each found given gone had here it kept made of one ones other others ours said "
    "taken thing things this told two what whole word words".split()
)
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def assigned_names(tree: ast.AST) -> list[str]:
    """Every name that is bound: variables, parameters, loop and comprehension variables."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
    return names


def main(folders: list[str]) -> None:
    lines = tokens = long = comments = 0
    names: Counter[str] = Counter()
    for path in sorted(file for folder in folders for file in Path(folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        names.update(assigned_names(ast.parse(text)))
        long += sum(len(line) > 100 for line in text.splitlines())
        code = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            comments += token.type == tokenize.COMMENT
            if token.type not in LAYOUT:
                tokens += 1
                code.add(token.start[0])
        lines += len(code)
    generic = {name: count for name, count in names.most_common() if name in GENERIC}
    print(f"tokens a line {tokens / lines:.1f}; long lines {long} of {lines}", end="; ")
    print(f"comments {100 * comments / lines:.1f} per 100 lines", end="; ")
    print(f"generic names {sum(generic.values()) / names.total():.1%} of {names.total()}")
    print(", ".join(f"{name} {count}" for name, count in generic.items()))
    for top in ("lab", "tests"):
        rooms: Counter[str] = Counter()
        for path in Path(top).rglob("*.py"):
            room = path.relative_to(top).parts[0] if len(path.relative_to(top).parts) > 1 else "."
            rooms[room] += len(path.read_text(encoding="utf-8").splitlines())
        counts = ", ".join(f"{room} {count:,}" for room, count in sorted(rooms.items()))
        print(f"lines of {top} {rooms.total():,}: {counts}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["lab"])
