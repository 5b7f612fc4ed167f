"""Paths as people write and read them. Knows nothing of settings or files."""

from __future__ import annotations

import os
from collections.abc import Iterator


def absolute(path: str) -> str:
    """The absolute form of a path that may not exist. `..` is followed through symbolic links, as the system does."""
    if os.pardir not in posix(path).split("/"):
        return os.path.abspath(path)
    if os.path.basename(path) in ("", os.curdir, os.pardir):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


def shown(path: str) -> str:
    """How a path is shown to people: relative where it lies below the current folder, absolute elsewhere."""
    path, here = os.path.abspath(path), os.getcwd()
    if path == here:
        return os.curdir
    inside = os.path.join(here, "")
    return path[len(inside) :] if path.startswith(inside) else path


def posix(path: str) -> str:
    """A path as others read it, on every system."""
    return path.replace(os.sep, "/")


def is_notebook(path: str) -> bool:
    """Whether the file at a path is a notebook, by its name."""
    return path.lower().endswith(".ipynb")


class CellPath(str):
    """The path of a cell, as it is shown: `agent.ipynb:cell 3`."""

    file: str
    cell: int

    @staticmethod
    def of(file: str, cell: int) -> CellPath:
        path = CellPath(f"{file}:cell {cell}")
        path.file, path.cell = file, cell
        return path


def file_of(path: str) -> str:
    """The path of the file that a path of a cell, or of a file, belongs to."""
    return path.file if isinstance(path, CellPath) else path


def cell_of(path: str) -> int | None:
    """The number of a cell by its path; None for a file."""
    return path.cell if isinstance(path, CellPath) else None


def upwards(folder: str) -> Iterator[str]:
    """An absolute folder, and each folder above it up to the root of the file system."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_test_file(path: str) -> bool:
    """Whether pytest collects a file of this name (its documentation, "Conventions for Python test discovery")."""
    name = os.path.basename(path)
    return name.startswith("test_") or name.endswith("_test.py")
