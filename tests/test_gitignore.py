"""What .gitignore files leave out: the same as git, on trees and patterns made by chance."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lint_rules import files

ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
"""Settings of whoever runs the tests do not count."""

FOLDERS = ("a", "b", "ab", "A", "data", "a b", "[a]", "-", "é")
FILES = (
    "a.py",
    "b.py",
    "ab.py",
    "aé.py",
    "é.py",
    "A.py",
    "1.py",
    "#a.py",
    "!a.py",
    " .py",
    "a .py",
    "a-.py",
    "{a,b}.py",
)
FILES_OF_POSIX = ("*.py", "\\a.py", "[.py", "].py", "a\tb.py")

PIECES = (
    *(
        "a",
        "b",
        "ab",
        "A",
        ".py",
        "a.py",
        "*",
        "*",
        "*.py",
        "?",
        "**",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[c-a]",
        "[--1]",
    ),
    *("[]a]", "[!]]", "[\\]b]", "[a/b]", "[[:alpha:]]", "[![:alnum:]]", "[[:upper:]b-]", "[[:space:][:punct:]]"),
    *(
        "[[:digit:]-z]",
        "[[:alhpa:]]",
        "[[:]",
        "[",
        "\\a",
        "\\*",
        "\\ ",
        "\\#",
        " ",
        "#",
        "!",
        "-",
        "é",
        "{a,b}",
        "data",
    ),
)
ANY_DEPTH_OR_NOT = re.compile(r"[^/*]\*\*+(/|$)|\*\\/")
"""Two stars that are no name of their own: to git's documentation they are one star, to git before 2.52 not always."""


def pattern(chance: random.Random) -> str:
    parts = [
        "**" if chance.random() < 0.2 else "".join(chance.choices(PIECES, k=chance.choice((1, 1, 2, 3))))
        for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))
    ]
    text = "/".join(parts)
    if ANY_DEPTH_OR_NOT.search(text):
        return pattern(chance)
    text = "/" * (chance.random() < 0.2) + text + "/" * (chance.random() < 0.25)
    return "!" * (chance.random() < 0.35) + text + chance.choice(("", "", "", "", " ", "  ", "\\ ", "\\", "\r"))


def grow(folder: Path, chance: random.Random, depth: int = 0) -> None:
    """Fill a folder with files, folders and now and then a .gitignore."""
    folder.mkdir()
    names = FILES + FILES_OF_POSIX if os.name == "posix" else FILES
    for name in chance.sample(names, k=4):
        (folder / name).touch()
    if chance.random() < (1, 0.4, 0)[depth]:
        ignore(folder / ".gitignore", chance)
    if depth < 2:
        for name in chance.sample(FOLDERS, k=3):
            if not (folder / name).exists():  # where `a` and `A` are the same
                grow(folder / name, chance, depth + 1)


def ignore(file: Path, chance: random.Random) -> None:
    lines = [pattern(chance) for _ in range(chance.randint(1, 4))]
    bom = "\ufeff" * (chance.random() < 0.1)
    file.write_text(bom + chance.choice(("\n", "\r\n")).join(lines), encoding="utf-8", newline="")


def repository(folder: Path) -> None:
    for name in ("objects", "refs", "info"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


def by_git(folder: Path) -> set[str]:
    """The files that git would add."""
    command = ["git", "-c", "core.ignorecase=false", "ls-files", "--others", "--exclude-standard", "-z"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(command, cwd=folder, env=environment | ALONE, capture_output=True, check=True)
    return {name for name in os.fsdecode(done.stdout).split("\0") if name.endswith(".py")}


class Everything:
    """A policy that leaves nothing out."""

    def excludes(self, path: str, is_dir: bool) -> bool:
        return is_dir and os.path.basename(path) == ".git"

    def forces(self, path: str) -> bool:
        return False

    def excludes_named(self, path: str, is_dir: bool) -> bool:
        return False


class Forced(Everything):
    """A policy by which ignored files are left out even where they are named."""

    def forces(self, path: str) -> bool:
        return True


def by_us(folder: Path) -> set[str]:
    return {
        os.path.relpath(str(path), folder).replace(os.sep, "/") for path in files.discover([str(folder)], Everything())
    }


git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")


@git
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_the_same_files_as_git(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        chance = random.Random(seed)
        folder = tmp_path / str(seed)
        grow(folder, chance)
        repository(folder)
        if chance.random() < 0.3:
            ignore(folder / ".git" / "info" / "exclude", chance)
        expected = by_git(folder)
        assert by_us(folder) == expected, f"seed {seed}"
        everything = [str(path) for path in folder.rglob("*.py")]
        named = {os.path.relpath(str(path), folder) for path in files.discover(everything, Forced())}
        assert {name.replace(os.sep, "/") for name in named} == expected, f"seed {seed}, each file named"


@git
@pytest.mark.parametrize(
    "lines",
    [
        "*\n!*/\n!*.py\n",
        "data/**\n!data/keep.py\n",
        "data/*\n!data/keep.py\n",
        "data/\n!data/keep.py\n",
        "/*\n!/data\n/data/*\n!/data/keep.py\n",
        "**/keep.py\n",
        "data/**/keep.py\n",
        "data/**/deep/**\n!*.py\n",
        "[[:alpha:]]*.py\n",
        "[[:alhpa:]]*.py\n",
        "[!k]*.py\n",
        "keep.py \nagent.py\\ \n",
        "\\#agent.py\n#agent.py\n",
        "KEEP.PY\n",
    ],
)
def test_what_the_documentation_tells(lines: str, tmp_path: Path) -> None:
    repository(tmp_path)
    for name in ("agent.py", "#agent.py", "data/keep.py", "data/drop.py", "data/deep/keep.py", "data/deep/er/drop.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(lines)
    assert by_us(tmp_path) == by_git(tmp_path)


@git
def test_a_work_tree_and_its_repository_share_what_they_exclude(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | ALONE
    for command in (
        ["init", "--quiet", str(main)],
        ["-C", str(main), *identity, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "empty"],
        ["-C", str(main), "worktree", "add", "--quiet", str(tree)],
    ):
        subprocess.run(["git", *command], env=environment, check=True)
    (main / ".git" / "info" / "exclude").write_text("private.py\n")
    for name in ("private.py", "public.py"):
        (tree / name).touch()
    assert by_us(tree) == by_git(tree) == {"public.py"}


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices")
def test_a_gitignore_that_is_no_file_is_none(tmp_path: Path) -> None:
    for name in ("device", "pipe", "link", "folder"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").touch()
    (tmp_path / "patterns").write_text("a.py\n")
    (tmp_path / "device" / ".gitignore").symlink_to("/dev/zero")
    (tmp_path / "link" / ".gitignore").symlink_to(tmp_path / "patterns")  # not followed by git, either
    (tmp_path / "folder" / ".gitignore").mkdir()
    os.mkfifo(tmp_path / "pipe" / ".gitignore")
    assert by_us(tmp_path) == {"device/a.py", "pipe/a.py", "link/a.py", "folder/a.py"}


@pytest.mark.parametrize("line", ["*a" * 60 + "b.py", "**/a/" * 60 + "b.py", "[ab]*" * 60 + "c", "?*" * 60 + "b"])
def test_a_pattern_that_could_be_tried_in_countless_ways(line: str, tmp_path: Path) -> None:
    """Would take longer than the sun shines, were each way tried."""
    deep = tmp_path.joinpath(*"a" * 60)
    deep.mkdir(parents=True)
    (deep / ("a" * 200 + ".py")).touch()
    (tmp_path / ".gitignore").write_text(line + "\n")
    assert len(by_us(tmp_path)) == 1
