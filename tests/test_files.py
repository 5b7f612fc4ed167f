"""Which files are found, under which names, and the modules next to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from marked_engine import Project

from lint_rules import files
from lint_rules.files import neighbours


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    files.forget_neighbours()
    return Project(tmp_path, monkeypatch, capsys)


# -- discovery ----------------------------------------------------------------------------------------------------


def test_folders_give_python_files_in_order(project: Project) -> None:
    project.write("b.py", "a/z.py", "a/b.pyw", "c.PY", ".hidden/a.py", "a.txt", "stub.pyi", "script", "a/deep/er/x.py")
    assert project.check().paths == [".hidden/a.py", "a/b.pyw", "a/deep/er/x.py", "a/z.py", "b.py", "c.PY"]


def test_named_files_are_checked_whatever_they_are_called(project: Project) -> None:
    project.write("script", "stub.pyi")
    assert project.check("stub.pyi", "script").paths == ["stub.pyi", "script"]


def test_each_file_is_checked_once(project: Project) -> None:
    project.write("sub/a.py")
    assert project.check("sub/a.py", ".", "sub", "./sub/../sub/a.py", str(project.path / "sub/a.py")).paths == [
        "sub/a.py"
    ]


@pytest.mark.parametrize("name", [".", "./", "sub", "sub/", "./sub", "sub/../sub", "{here}", "{here}/sub"])
def test_paths_below_the_current_folder_are_relative(project: Project, name: str) -> None:
    project.write("sub/a.py")
    assert project.check(name.format(here=project.path)).paths == ["sub/a.py"]


def test_paths_elsewhere_are_absolute(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("here/x.txt", "there/a.py")
    monkeypatch.chdir(project.path / "here")
    assert project.check("../there").paths == [(project.path / "there" / "a.py").as_posix()]


def test_default_exclusions(project: Project) -> None:
    project.write("a.py", ".venv/a.py", "sub/venv/a.py", "node_modules/x/a.py", "build/a.py", "sub/__pycache__/a.py")
    assert project.check().paths == ["a.py"]


def test_what_is_named_is_checked_even_if_excluded(project: Project) -> None:
    project.write("build/a.py", "build/sub/b.py", "build/node_modules/c.py")
    assert project.check("build").paths == ["build/a.py", "build/sub/b.py"]
    assert project.check("build/sub").paths == ["build/sub/b.py"]
    assert project.check("build/node_modules/c.py").paths == ["build/node_modules/c.py"]


def test_a_folder_above_the_project_excludes_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("build/project/a.py")
    monkeypatch.chdir(project.path / "build" / "project")
    assert project.check("--force-exclude").paths == ["a.py"]
    assert project.check("--force-exclude", ".", "a.py").paths == ["a.py"]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--exclude", "gen"], ["a.py", "build/a.py", "src/a.py"]),
        (["--extend-exclude", "gen"], ["a.py", "src/a.py"]),
        (["--extend-exclude", "src/gen"], ["a.py", "gen/a.py", "src/a.py"]),
        (["--extend-exclude", "/gen/,src/*.py"], ["a.py", "src/gen/a.py"]),
        (["--extend-exclude", "./gen", "--extend-exclude=src/**"], ["a.py"]),
        (["--extend-exclude", "{here}/gen"], ["a.py", "src/a.py", "src/gen/a.py"]),
        (["--extend-exclude", "*.py"], []),
        (["--extend-exclude", "{gen,src/{gen,a.py}}"], ["a.py"]),
        (["--extend-exclude", "/gen/**,!/gen/a.py"], ["a.py", "gen/a.py", "src/a.py", "src/gen/a.py"]),
    ],
)
def test_exclusions(project: Project, words: list[str], left: list[str]) -> None:
    project.write("a.py", "src/a.py", "src/gen/a.py", "gen/a.py", "build/a.py")
    assert project.check(*(word.replace("{here}", str(project.path)) for word in words)).paths == left


def test_braces_without_a_comma_are_a_name(project: Project) -> None:
    project.write("{{cookiecutter.name}}/a.py", "cookiecutter.name/a.py")
    assert project.check("--extend-exclude", "{{cookiecutter.name}}").paths == ["cookiecutter.name/a.py"]


def test_a_pattern_that_starts_like_a_comment(project: Project) -> None:
    project.write("#a.py", "b.py")
    assert project.check("--extend-exclude", "#a.py").paths == ["b.py"]


@pytest.mark.parametrize("name", ["gen", "gen/a.py", "gen/deep/a.py"])
def test_force_exclude(project: Project, name: str) -> None:
    project.write("gen/a.py", "gen/deep/a.py")
    words = ("--extend-exclude", "gen", name)
    assert project.check(*words).paths != []
    assert project.check("--force-exclude", *words).paths == []


# -- .gitignore ---------------------------------------------------------------------------------------------------


def test_gitignore(project: Project) -> None:
    project.write(".git/HEAD", ".git/info/exclude", content="private.py\n")
    project.write(".gitignore", content="# generated\n/gen/\n*_pb2.py\n!kept_pb2.py\n!\n")
    project.write("sub/.gitignore", content="local.py\n!wanted_pb2.py\n")
    project.write("a.py", "gen/a.py", "x_pb2.py", "kept_pb2.py", "private.py", "local.py")
    project.write("sub/a.py", "sub/gen/a.py", "sub/local.py", "sub/deep/local.py", "sub/x_pb2.py", "sub/wanted_pb2.py")
    assert project.check().paths == [
        "a.py",
        "kept_pb2.py",
        "local.py",
        "sub/a.py",
        "sub/gen/a.py",
        "sub/wanted_pb2.py",
    ]


def test_gitignore_of_the_folders_above_holds_up_to_the_repository(project: Project) -> None:
    project.write(".gitignore", content="c.py\n")
    project.write("repository/.git/HEAD", content="")
    project.write("repository/.gitignore", content="/sub/a.py\n")
    project.write("repository/sub/a.py", "repository/sub/b.py", "repository/sub/c.py")
    assert project.check("repository/sub").paths == ["repository/sub/b.py", "repository/sub/c.py"]


def test_gitignore_outside_a_repository_holds_from_the_named_folder_down(project: Project) -> None:
    project.write(".gitignore", content="a.py\n")
    project.write("sub/a.py", "sub/b.py")
    assert project.check().paths == ["sub/b.py"]
    assert project.check("sub").paths == ["sub/a.py", "sub/b.py"]


def test_gitignore_of_a_repository_ends_at_a_repository_within(project: Project) -> None:
    project.write(".git/HEAD", "module/.git", content="")
    project.write(".gitignore", content="a.py\n")
    project.write("a.py", "module/a.py")
    assert project.check().paths == ["module/a.py"]


def test_what_is_named_is_checked_even_if_ignored(project: Project) -> None:
    project.write(".git/HEAD", content="")
    project.write(".gitignore", content="gen/\n")
    project.write("gen/a.py", "gen/deep/b.py")
    assert project.check().paths == []
    assert project.check("gen/a.py").paths == ["gen/a.py"]
    assert project.check("gen").paths == ["gen/a.py", "gen/deep/b.py"]
    assert project.check("gen/deep", "gen/a.py", "--force-exclude").paths == []


def test_a_gitignore_in_any_encoding(project: Project) -> None:
    project.write(".gitignore", content=b"\xef\xbb\xbfa.py\r\n\xff\xfe\r\nb.py\r\n")
    project.write("a.py", "b.py", "c.py")
    assert project.check().paths == ["c.py"]


# -- links --------------------------------------------------------------------------------------------------------


@pytest.fixture
def link(project: Project) -> None:
    try:
        os.symlink("target", project.path / "probe")
    except OSError:
        pytest.skip("links cannot be made here")
    os.unlink(project.path / "probe")


@pytest.mark.usefixtures("link")
def test_a_loop_of_folders_is_remarked_and_costs_nothing(project: Project) -> None:
    project.write("sub/a.py")
    os.symlink("..", project.path / "sub" / "up")
    os.symlink("itself", project.path / "sub" / "itself")
    run = project.check()
    assert (run.code, run.paths) == (1, ["sub/a.py"])
    assert sorted(line.split(": ")[2] for line in run.err.splitlines()) == [
        os.path.join("sub", "itself"),
        os.path.join("sub", "up"),
    ]


@pytest.mark.usefixtures("link")
def test_links_to_folders_are_followed_only_when_named(project: Project) -> None:
    project.write("real/a.py")
    os.symlink("real", project.path / "linked")
    assert project.check().paths == ["real/a.py"]
    assert project.check("linked").paths == ["linked/a.py"]


@pytest.mark.usefixtures("link")
def test_links_to_files(project: Project) -> None:
    project.write("a.py")
    os.symlink("a.py", project.path / "b.py")
    os.symlink("nobody@host.1", project.path / ".#a.py")  # an editor's lock
    run = project.check()
    assert (run.paths, run.err) == (["a.py", "b.py"], "")


@pytest.mark.usefixtures("link")
def test_dots_follow_links_as_the_system_does(project: Project) -> None:
    project.write("far/away/a.py", "far/b.py")
    os.symlink("far/away", project.path / "near")
    assert project.check("near/../b.py").paths == ["far/b.py"]


# -- modules nearby -----------------------------------------------------------------------------------------------


@pytest.fixture
def package(project: Project) -> Project:
    project.write("pyproject.toml", content="")
    for name in (
        "app/__init__.py",
        "app/main.py",
        "app/turn.py",
        "app/types.py",
        "app/core/__init__.py",
        "app/core/store.py",
        "app/core/deep/loop.py",
        "src/pkg/sub.py",
        "src/pkg/__init__.py",
        "top.py",
        "json.py",
    ):
        project.write(name, content=name)
    return project


@pytest.mark.parametrize(
    ("importer", "module", "found"),
    [
        ("app/main.py", ".turn", "app/turn.py"),
        ("app/main.py", "turn", "app/turn.py"),
        ("app/main.py", ".core", "app/core/__init__.py"),
        ("app/main.py", ".core.store", "app/core/store.py"),
        ("app/main.py", ".", "app/__init__.py"),
        ("app/core/store.py", "..turn", "app/turn.py"),
        ("app/core/deep/loop.py", "..store", "app/core/store.py"),
        ("app/core/deep/loop.py", "...turn", "app/turn.py"),
        ("app/core/deep/loop.py", "..", "app/core/__init__.py"),
        ("app/core/deep/loop.py", "app.turn", "app/turn.py"),
        ("app/core/deep/loop.py", "top", "top.py"),
        ("app/core/deep/loop.py", "pkg.sub", "src/pkg/sub.py"),
        ("app/core/deep/loop.py", "pkg", "src/pkg/__init__.py"),
        ("app/main.py", ".missing", None),
        ("app/main.py", "json", None),
        ("app/main.py", "types", None),
        ("app/main.py", ".types", "app/types.py"),
        ("app/main.py", "main", None),
        ("app/__init__.py", ".", None),
        ("app/main.py", "." * 200 + "x", None),
        ("app/main.py", "", None),
        ("app/main.py", "turn.", None),
        ("app/main.py", "../turn", None),
        ("app/main.py", "tu\0rn", None),
        ("app/main.py", "x" * 5000, None),
        ("no/such/folder/x.py", ".turn", None),
        ("a\0b.py", "turn", None),
    ],
)
def test_neighbours(package: Project, importer: str, module: str, found: str | None) -> None:
    expected = None if found is None else (str(Path(found)), found.encode())
    assert neighbours(importer, module) == expected


def test_neighbours_of_an_absolute_path(package: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(package.path / "src")
    found = neighbours(str(package.path / "app" / "main.py"), ".turn")
    assert found == (str(package.path / "app" / "turn.py"), b"app/turn.py")


def test_the_search_ends_at_the_project(package: Project) -> None:
    package.write("inner/pyproject.toml", content="")
    package.write("inner/a.py")
    assert neighbours("inner/a.py", "top") is None
    assert neighbours("inner/a.py", "..top") is not None, "dots say where to look"


def test_the_search_ends_after_some_folders(project: Project) -> None:
    deep = "/".join("abcdefghi")
    project.write(f"{deep}/x.py", "top.py", "a/second.py")
    assert neighbours(f"{deep}/x.py", "second") is not None
    assert neighbours(f"{deep}/x.py", "top") is None


def test_installed_packages_are_no_neighbours(project: Project) -> None:
    project.write("site-packages/openai/__init__.py", "site-packages/mine/a.py", "site-packages/mine/b.py")
    assert neighbours("site-packages/mine/a.py", "openai") is None
    assert neighbours("site-packages/mine/a.py", ".b") is not None


def test_large_files_and_pipes_are_no_neighbours(project: Project) -> None:
    project.write("a.py")
    project.write("big.py", content=b"#" * (files.NEIGHBOUR_LIMIT + 1))
    project.write("fits.py", content=b"#" * files.NEIGHBOUR_LIMIT)
    assert neighbours("a.py", "big") is None
    assert neighbours("a.py", "fits") is not None
    if hasattr(os, "mkfifo"):
        os.mkfifo(project.path / "pipe.py")
        assert neighbours("a.py", "pipe") is None


def test_a_neighbour_that_changes_is_read_again(project: Project) -> None:
    project.write("b.py", content="one")
    assert neighbours("a.py", "b") == ("b.py", b"one")
    project.write("b.py", content="three")
    assert neighbours("a.py", "b") == ("b.py", b"three")


def test_a_package_that_comes_later_is_found_by_the_next_run(project: Project) -> None:
    assert neighbours("a.py", "pkg.sub") is None
    assert neighbours("a.py", "other.sub") is None
    project.write("pkg/sub.py", "src/other/sub.py")
    files.forget_neighbours()
    assert neighbours("a.py", "pkg.sub") is not None
    assert neighbours("a.py", "other.sub") is not None


# -- text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"\xef\xbb\xbfx = '\xc3\xa9'", "x = 'é'"),
        (b"# coding: latin-1\nx = '\xe9'", "# coding: latin-1\nx = 'é'"),
        (b"x = '\xe9'", "x = '\ufffd'"),
        (b"# coding: unheard-of\n", "# coding: unheard-of\n"),
        (b"x = 1\0", "x = 1\0"),
        (b"", ""),
    ],
)
def test_decode(source: bytes, text: str) -> None:
    assert files.decode(source) == text
