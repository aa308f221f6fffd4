"""The files that the style rules look at, and what a rule reports."""

import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CODE = {".cpp", ".hpp"}
SOURCES = CODE | {".sql", ".py", ".pml", ".cmake", ".ts", ".tsx", ".mjs", ".css",
                  ".sh"}
SCRIPT_FOLDERS = ("script/", ".ci/")


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True)
class File:
    path: str  # relative to the root, with /
    text: str

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @property
    def suffix(self):
        return Path(self.path).suffix

    @property
    def is_code(self):
        return self.suffix in CODE

    @property
    def is_source(self):
        """Code, SQL, models and scripts, as opposed to prose and data."""
        return (self.suffix in SOURCES or self.path.startswith(SCRIPT_FOLDERS)
                or Path(self.path).name == "CMakeLists.txt" or self.text.startswith("#!"))

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def matches(self, pattern):
        """(line number, match) for each match of a compiled pattern within a line."""
        for number, line in enumerate(self.lines, 1):
            for match in pattern.finditer(line):
                yield number, match


class Tree:
    """Every text file of a checkout. What git ignores is not part of it."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = [file for path in sorted(self._paths()) if (file := self._read(path))]
        self.by_path = {file.path: file for file in self.files}

    def code(self, *folders):
        return [file for file in self.files if file.is_code and in_folder(file, *folders)]

    def _paths(self):
        if (self.root / ".git").exists():
            listed = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=self.root, check=True, capture_output=True, text=True)
            return {path for path in listed.stdout.split("\0") if path}
        return {os.path.relpath(os.path.join(folder, name), self.root)
                for folder, _, names in os.walk(self.root) for name in names}

    def _read(self, path):
        full = self.root / path
        if not full.is_file():  # deleted, but git still lists it
            return None
        data = full.read_bytes()
        return None if b"\0" in data else File(path, data.decode("utf-8"))


def in_folder(file, *folders):
    """Whether the file is below one of the folders; any file if none is given."""
    return not folders or file.path.startswith(tuple(folder + "/" for folder in folders))
