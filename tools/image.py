"""Execute the Dockerfile's steps without docker, in a clean root: `make check-image`.

    python tools/image.py ROOT

Needs root, debootstrap, 12 GB and half an hour. In place of NVIDIA's base, which only docker
fetches, stands a minimal Debian 12: its packages have the names of Ubuntu's, its Python is 3.11
(`make check-install` resolves 3.12), and CUDA's compiler is not there. ROOT is kept.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"  # of this machine, in the root too


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile in order: pairs of name and arguments.

    >>> instructions("# base\\nFROM a\\nRUN b \\\\\\n\\t&& c\\n")
    [('FROM', 'a'), ('RUN', 'b && c')]
    """
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    joined = re.sub(r"\s*\\\n\s*", " ", lines)
    found = (line.partition(" ") for line in joined.splitlines() if line)
    return [(name, rest) for name, _, rest in found]


def execute(root: Path) -> None:
    """Execute all instructions; subprocess.CalledProcessError at the first step that fails."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "PIP_CERT": TRUSTED}
    user, folder = "root", "/"

    def run(command: str) -> None:
        words = [f"{name}={value}" for name, value in environment.items()]
        inside = f"cd {shlex.quote(folder)} && {command}"
        as_user = f"--userspec={user}" if user != "root" else "--userspec=root:root"
        subprocess.run(
            ["chroot", as_user, root, "env", "-i", *words, "/bin/sh", "-c", inside], check=True
        )

    for name, rest in instructions((CHECKOUT / "Dockerfile").read_text()):
        print(f"{name} {rest}", flush=True)
        match name:
            case "FROM":
                subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True)
                shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
            case "RUN":
                run(rest)
                if Path(TRUSTED).exists() and (root / TRUSTED[1:]).exists():
                    shutil.copy(TRUSTED, root / TRUSTED[1:])
            case "USER":
                user, environment["HOME"] = rest, "/home/lab"
            case "WORKDIR":
                folder = rest
                (root / folder[1:]).mkdir(parents=True, exist_ok=True)
            case "ENV":
                environment |= dict(word.split("=", 1) for word in shlex.split(rest))
            case "COPY":
                files = subprocess.run(
                    ["git", "archive", "HEAD"], cwd=CHECKOUT, check=True, capture_output=True
                )
                subprocess.run(
                    ["tar", "x", "--owner=1001", "-C", root / folder[1:]],
                    input=files.stdout,
                    check=True,
                )
                subprocess.run(["chown", "-R", "1001:1001", root / folder[1:]], check=True)
            case "VOLUME":
                for place in re.findall('"(.+?)"', rest):
                    run(f"touch {place}/written && rm {place}/written")
            case "CMD":
                run(" ".join(re.findall('"(.+?)"', rest)) + " --help")
            case other:
                sys.exit(f"{other} {rest}: this program does not know what docker does with it")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("root", type=Path)
    execute(words.parse_args().root.resolve())
