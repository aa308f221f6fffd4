"""Just enough understanding of C++ as clang-format leaves it: where functions begin and end."""

import re
from dataclasses import dataclass

# Comments, raw strings, strings and characters. A digit before ' makes it a separator (1'000).
_OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_NOT_A_FUNCTION = re.compile(
    r"^(?:(?:public|private|protected):\s*)*(?:template\s*<.*>\s*)?(?:inline\s+|typedef\s+)?"
    r"(?:namespace|class|struct|enum|union|extern)\b[^()]*$", re.S)
_INITIALISER = re.compile(r"(?:[=(,\[{]|\breturn)\s*$")


def without_comments(text):
    """The text with comments, strings and directives blanked; every line stays where it was."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return _DIRECTIVE.sub(blank, _OPAQUE.sub(blank, text))


def closing_brace(code, opening):
    depth = 0
    for at in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return len(code) - 1


@dataclass(frozen=True)
class Function:
    head: str
    first_line: int
    last_line: int


def functions(text):
    """Every function that is not inside another one (lambdas count to the one around them)."""
    code = without_comments(text)
    at = head_start = depth = 0
    while at < len(code):
        char = code[at]
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char in ";}" and depth == 0:
            head_start = at + 1
        elif char == "{":
            head = code[head_start:at]
            # A body has a space before its brace; `member_{value}` in a constructor has none.
            if depth > 0 or not code[at - 1].isspace() or _INITIALISER.search(head):
                at = closing_brace(code, at)
            elif "(" in head and not _NOT_A_FUNCTION.match(head.strip()):
                end = closing_brace(code, at)
                begin = head_start + len(head) - len(head.lstrip())
                yield Function(" ".join(head.split()), code.count("\n", 0, begin) + 1,
                               code.count("\n", 0, end) + 1)
                at, head_start = end, end + 1
            else:
                head_start = at + 1
        at += 1


_PRIVATE = re.compile(r"\bnamespace\s*\{")
_TEMPLATE = re.compile(r"^template\s*<[^{]*?>\s*(?=\w)")
_TYPE = re.compile(r"^(?:struct|class|enum class|enum|concept)\s+(\w+)")
_CALLED = re.compile(r"^[^={]*?\b(\w+)\s*\(")
_VALUE = re.compile(r"^[^={(\[]*?\b(\w+)\s*(?:\{|=|\[|$)")


def private_names(text):
    """What unnamed namespaces define: types and values by name, functions with parameters."""
    code = without_comments(text)
    for match in _PRIVATE.finditer(code):
        end = closing_brace(code, match.end() - 1)
        flat, at = [], match.end()
        while at < end:
            if code[at] == "{":
                flat.append("{};")
                at = closing_brace(code, at)
            else:
                flat.append(code[at])
            at += 1
        for statement in "".join(flat).split(";"):
            statement = _TEMPLATE.sub("", " ".join(statement.split()))
            if not statement or statement.startswith(("using ", "namespace ")):
                continue
            if found := _TYPE.match(statement):
                yield found.group(1)
            elif "=" not in statement.split("(")[0] and (found := _CALLED.match(statement)):
                yield re.sub(r"\s", "", statement[found.start(1):].rsplit(")", 1)[0]) + ")"
            elif found := _VALUE.match(statement):
                yield found.group(1)
