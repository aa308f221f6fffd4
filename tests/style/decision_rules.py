"""Rules on decisions about tasks: they are made above the stores, and worded once."""

import re

from tree import Finding, in_folder

# Comparisons, lists and ranges of states in SQL, and what Lua keeps as text.
SQL_NUMBER = re.compile(r"\bstate(?: \+ 0)? (?:(?:=|<>|!=|<|>|<=|>=) |(?:NOT )?IN \(|BETWEEN )\d")
LUA_NUMBER = re.compile(r"\bstate *(?:==|~=|=) *'\d|\[ *'\d' *\] *=|'\d+', *(?:\w+\.)?state\b")

# What becomes of tasks is decided in these, in sentences that people read.
DECIDING = ("src/recovery/decide.cpp", "src/tasks/lifecycle.cpp", "src/tasks/lifecycle.hpp",
            "src/tasks/policy.cpp")
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
TEXTS = re.compile(rf"{TEXT.pattern}(?:\s*{TEXT.pattern})*")  # of one literal
LUA_TEXT = re.compile(r"'[^'\n]*'")
FEWEST, SHORTEST = 3, 16  # words and characters; less may be said of something else
ACTOR = re.compile(r"""["']system/""")
ACTORS = "src/recovery/actors.hpp"


def is_in_text(line, at):
    return len(re.findall(r'(?<!\\)"', line[:at])) % 2 == 1


def state_numbers(tree):
    """Numbers of states are those of enum TaskState. Steps of a schema stay as they were."""
    for file in tree.code("src/engines"):
        for line, match in file.matches(SQL_NUMBER):
            if is_in_text(file.lines[line - 1], match.start()):
                yield Finding(file.path, line, "number of a state; name it, as {pending}")
    for file in tree.files:
        if file.suffix == ".lua":
            for line, match in file.matches(LUA_NUMBER):
                yield Finding(file.path, line, "number of a state; name it, as PENDING")


def literal_of(texts):
    return "".join(TEXT.findall(texts.group(0)))


def sentences(text):
    """Parts of what is said, between what is put in, that are long enough to be known again."""
    for said in TEXTS.finditer(text):
        for part in re.split(r"\{[^}]*\}", literal_of(said)):
            part = part.strip(" ,.;:()")
            if len(part.split()) >= FEWEST and len(part) >= SHORTEST:
                yield part


def reasons(tree):
    """A reason that has two places has two wordings soon; and a store that gives one decides."""
    said = {part: path for path in DECIDING if path in tree.by_path
            for part in sentences(tree.by_path[path].text)}
    for file in tree.files:
        if not in_folder(file, "src") or file.suffix not in (".cpp", ".hpp", ".lua"):
            continue
        of_lua = file.suffix == ".lua"
        for texts in (LUA_TEXT if of_lua else TEXTS).finditer(file.text):
            literal = texts.group(0) if of_lua else literal_of(texts)
            for part, path in said.items():
                if path != file.path and part in literal:
                    yield Finding(file.path, file.line_of(texts.start()),
                                  f"'{part}' is said by {path}")


def actors(tree):
    for file in tree.files:
        if not in_folder(file, "src") or file.suffix not in (".cpp", ".hpp", ".lua"):
            continue
        for line, _ in file.matches(ACTOR):
            if file.path != ACTORS:
                yield Finding(file.path, line, f"actors are named in {ACTORS}")


RULES = [state_numbers, reasons, actors]
