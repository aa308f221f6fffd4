"""Rules that look at lines and words, whatever the language."""

import re
from pathlib import Path

from tree import Finding, in_folder

MAX_FILE = 400
MAX_LINE = 100
MAX_README = 150

# The rules themselves have to name what they forbid.
OWN_FOLDER = "tests/style"

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
REQUIREMENT = re.compile(r"\b(FR|NFR|AC|UT|IT|UM)-\d{3}\b")
MACHINE_PATH = re.compile(r"(?<![\w.}/])/(work|root|home/\w+)/")
PLANS = {"plan", "plans", "progress", "status", "notes", "todo", "roadmap", "worklog"}
EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n+```\w*\n(.*?)^```$", re.M | re.S)

QUOTED = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\[[^]]+\]\((?!\w+:)([^)#\s]+)[^)]*\)")


def _words(tree, pattern, message):
    for file in tree.files:
        if not in_folder(file, OWN_FOLDER):
            for line, match in file.matches(pattern):
                yield Finding(file.path, line, message.format(match.group(0)))


def unfinished(tree):
    yield from _words(tree, UNFINISHED, "{} is left in the tree")


def requirement_ids(tree):
    yield from _words(tree, REQUIREMENT, "requirement id {}; say what is wanted instead")


def machine_paths(tree):
    yield from _words(tree, MACHINE_PATH, "path {} of somebody's machine")


def whitespace(tree):
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield Finding(file.path, number, "white space at the end of the line")
        if file.text and not file.text.endswith("\n"):
            yield Finding(file.path, len(file.lines), "no newline at the end of the file")


def long_lines(tree):
    for file in tree.files:
        if file.is_source:
            for number, line in enumerate(file.lines, 1):
                if len(line) > MAX_LINE:
                    yield Finding(file.path, number, f"{len(line)} columns, at most {MAX_LINE}")


def long_files(tree):
    for file in tree.files:
        if file.is_source and len(file.lines) > MAX_FILE:
            yield Finding(file.path, MAX_FILE + 1,
                          f"{len(file.lines)} lines, at most {MAX_FILE}")


def planning_files(tree):
    for file in tree.files:
        path = Path(file.path)
        if path.suffix in {".md", ".txt"} and path.stem.lower() in PLANS:
            yield Finding(file.path, 1, "plans and notes do not belong into the tree")


def readme(tree):
    """Short, with an example that is the very program in examples/."""
    file = tree.by_path.get("README.md")
    if not file:
        yield Finding("README.md", 1, "there is none")
        return
    if len(file.lines) > MAX_README:
        yield Finding(file.path, MAX_README + 1, f"{len(file.lines)} lines, at most {MAX_README}")
    shown = list(EXAMPLE.finditer(file.text))
    if not shown:
        yield Finding(file.path, 1, "shows no example (<!-- example: PATH --> before its fence)")
    for block in shown:
        program = tree.by_path.get(block.group(1))
        line = file.line_of(block.start())
        if not program:
            yield Finding(file.path, line, f"example {block.group(1)} does not exist")
        elif program.text != block.group(2):
            yield Finding(file.path, line, f"example differs from {block.group(1)}")


def quoted_code(tree):
    """What the guides quote is part of a program in examples/, so it compiles."""
    programs = [file.text for file in tree.files if in_folder(file, "examples") and file.is_code]
    for file in tree.files:
        if file.suffix == ".md":
            for block in QUOTED.finditer(file.text):
                if not any(block.group(1) in program for program in programs):
                    yield Finding(file.path, file.line_of(block.start()),
                                  "this code is in no program of examples/")


def dead_links(tree):
    for file in tree.files:
        if file.suffix == ".md":
            for line, link in file.matches(LINK):
                if not (tree.root / Path(file.path).parent / link.group(1)).exists():
                    yield Finding(file.path, line, f"{link.group(1)} does not exist")


RULES = [unfinished, requirement_ids, machine_paths, whitespace, long_lines, long_files,
         planning_files, readme, quoted_code, dead_links]
