"""One-line changes to source text, each of which some test should notice."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 1
    before: str
    after: str

    @property
    def name(self):
        """What a list of accepted ones knows it by: lines move, their texts rarely change."""
        return f"{self.path}: {self.before.strip()}  =>  {self.after.strip() or '(nothing)'}"


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_TIME = re.compile(r"now|until|lease|delay|time|after|age|steady|beat|since")

# Outside of strings in C++.
_CODE = [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
         (" >= ", " > "), (" && ", " || "), (" || ", " && "), ("return true;", "return false;"),
         ("return false;", "return true;")]
_CALL = re.compile(r"^\s+(?!return|throw|if|for|while|else|case|auto|const|delete|co_)"
                   r"[\w.:>\-\[\]*]+\(.*\);$")
_GUARD = re.compile(r"\bif \((?!auto |const |!\()(.+?)\) (?=\S)|\bif \((?!auto |const |!\()(.+)\)$")

# In the strings of C++ that are SQL.
_CONDITION = re.compile(r" AND (?:NOT )?[\w.+() ]+? (?:=|<>|<=|>=|<|>|IS NOT|IS) [\w.?${}+]+")
_LOCK = re.compile(r" FOR (?:UPDATE|SHARE|NO KEY UPDATE)(?: OF \w+)?(?: SKIP LOCKED)?")
_SQL = [(" SKIP LOCKED", ""), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
        ("NOT EXISTS", "EXISTS"), (" IS NULL", " IS NOT NULL"), (" IS NOT NULL", " IS NULL"),
        (" DESC", ""), ("BEGIN IMMEDIATE", "BEGIN")]
_IS_SQL = re.compile(r"\b(SELECT|UPDATE|INSERT|DELETE|WHERE|AND|RETURNING|ORDER BY|BEGIN|FOR)\b")

_LUA = [(" == ", " ~= "), (" ~= ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
        (" >= ", " > "), (" and ", " or "), (" or ", " and "), ("if not ", "if "),
        ("return true", "return false"), ("return false", "return true")]
_LUA_CALL = re.compile(r"^\s*(?!return|local|if|for|while|function)[\w.]+\(.*\)$")


def _swaps(text, pairs, begin=0):
    for old, new in pairs:
        at = text.find(old)
        while at >= 0:
            yield begin + at, len(old), new
            at = text.find(old, at + 1)


def _changes_of_code(line):
    """Places that may be changed, each as (begin, length, new text)."""
    begin = 0
    for string in [*_STRING.finditer(line), None]:
        end = string.start() if string else len(line)
        part = line[begin:end]
        yield from _swaps(part, _CODE, begin)
        if _TIME.search(part):
            yield from _swaps(part, [(" + ", " - "), (" - ", " + ")], begin)
        if string:
            text = string.group()
            if _IS_SQL.search(text):
                yield from _changes_of_sql(text, string.start())
            begin = string.end()
    for guard in _GUARD.finditer(line):
        group = 1 if guard.group(1) is not None else 2
        inside = guard.group(group)
        if inside.count("(") == inside.count(")"):
            yield guard.start(group), len(inside), f"!({inside})"
    if _CALL.match(line):
        yield 0, len(line), ""


def _changes_of_sql(text, begin):
    for found in [*_CONDITION.finditer(text), *_LOCK.finditer(text)]:
        yield begin + found.start(), len(found.group()), ""
    yield from _swaps(text, _SQL, begin)


def _changes_of_lua(line):
    yield from _swaps(line, _LUA)
    if _LUA_CALL.match(line):
        yield 0, len(line), ""


def mutants(path, text):
    lua = path.endswith(".lua")
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith(("//", "--", "#", "*", "static_assert", "kill_point(")):
            continue
        seen = set()
        for begin, length, new in (_changes_of_lua if lua else _changes_of_code)(line):
            after = line[:begin] + new + line[begin + length:]
            if after != line and after not in seen:
                seen.add(after)
                yield Mutant(path, number, line, after)
