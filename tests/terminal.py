"""A terminal for tests: a process writes to it as to one that somebody looks at, and its screen can
be read as text.
"""

import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOVE = re.compile(r"\x1b\[(\d*)([AJ])")  # up, and erase all behind the cursor


class Screen:
    """What is on the screen after all that was written. Lines never wrap."""

    def __init__(self) -> None:
        self.lines, self.row, self.column = [""], 0, 0

    def write(self, text: str) -> None:
        place = 0
        while place < len(text):
            if found := MOVE.match(text, place):
                if found[2] == "A":
                    self.row -= int(found[1] or 1)
                else:
                    self.lines[self.row] = self.lines[self.row][: self.column]
                    del self.lines[self.row + 1 :]
                place = found.end()
                continue
            letter = text[place]
            place += 1
            if letter == "\r":
                self.column = 0
            elif letter == "\n":
                self.row += 1
                self.lines += [""] * (self.row == len(self.lines))
            else:
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
                self.column += 1


def at_terminal(*words: str):
    """`lab WORDS` at a terminal of 100 by 30; its exit code, and the screen after each thing
    written, the last one at the end.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    path = f"{ROOT}{os.pathsep}{os.environ['PYTHONPATH']}"
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", *words],
        stdin=its,
        stdout=its,
        stderr=its,
        env=kept | {"PYTHONPATH": path, "TERM": "xterm", "PYTHONUTF8": "1"},
        start_new_session=True,
    )
    os.close(its)
    screen, seen = Screen(), []
    decoder = codecs.getincrementaldecoder("utf-8")()
    while True:
        try:
            content = os.read(ours, 65536)
        except OSError:  # of Linux, once nobody holds the other end
            break
        if not content:
            break
        screen.write(decoder.decode(content))
        seen.append(list(screen.lines))
    os.close(ours)
    return process.wait(60), seen
