"""Rules on C++: size of functions, names, and what tests and error handling must not do."""

import re
import subprocess
from pathlib import Path

from cpp import closing_brace, functions, private_names, without_comments
from tree import Finding, in_folder

MAX_FUNCTION = 70

BANNED_WORDS = {"util", "utils", "common", "core", "helper", "helpers", "manager", "misc"}
BANNED_CLASS = re.compile(
    r"\b(?:class|struct)\s+(\w*(?:Manager|Helper|Util|Factory)\w*|\w+Impl)\b")
DISABLED = re.compile(r"\bDISABLED_\w*|\bGTEST_SKIP\b")
SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")
# A program under test that puts its work on the store at a given pace.
SLEEP_ALLOWED = {"tests/crash/driver.cpp"}
CATCH_ALL = re.compile(r"catch \(\.\.\.\)\s*(?=\{)")
# Where whatever a user's handler throws becomes an outcome.
CATCH_ALL_ALLOWED = {"src/tasks/thrown.cpp"}
EXCHANGE = re.compile(r"\btasks\(\)\s*\.exchange\(")
CREATING = re.compile(r"(?:::open(?:at)?|\bopen_file)\s*\([^;]*?\bO_CREAT\b|\bofstream\b|"
                      r"::mkdir(?:at)?\s*\(|\bcreate_director(?:y|ies)\s*\(")
# The functions themselves; a file for another program's user; what is in a folder of the demo's, or
# in one that people put files into; a program of the build.
CREATING_ALLOWED = {
    "src/recovery/private_files.cpp", "src/tasks/metrics_file.cpp", "src/cli/demo.cpp",
    "src/cli/demo_ledger.cpp", "src/cli/batch_watch.cpp", "src/server/embed/embedder.cpp"}
PASSED_ON = re.compile(
    r"\bthrow;|\bcurrent_exception\(\)|\babort\(\)|\boutcome_of_thrown\(\)")


# One program for each file or two.
PROGRAMS = {"tests/batches", "tests/corruption", "tests/crash", "tests/faults", "tests/files",
            "tests/operations", "tests/simulation", "tests/fuzz"}
# Compiled one file at a time: unit tests and scenarios are alike inside.
APART = ("src/server/embed", "tests/unit", "tests/scenario", "tests/support",
         "tests/style")


def long_functions(tree):
    for file in tree.code():
        for function in functions(file.text):
            length = function.last_line - function.first_line + 1
            if length > MAX_FUNCTION:
                yield Finding(file.path, function.first_line,
                              f"function of {length} lines, at most {MAX_FUNCTION}")


def names(tree):
    for file in tree.files:
        words = {word for part in Path(file.path).with_suffix("").parts
                 for word in re.split(r"[_\-.]", part.lower())}
        for word in sorted(words & BANNED_WORDS):
            yield Finding(file.path, 1, f"'{word}' in a path says nothing about what is there")
    for file in tree.code():
        code = without_comments(file.text)
        for match in BANNED_CLASS.finditer(code):
            yield Finding(file.path, file.line_of(match.start()),
                          f"class name {match.group(1)} says nothing about what it is")


def disabled_tests(tree):
    for file in tree.code("tests"):
        for line, match in file.matches(DISABLED):
            yield Finding(file.path, line, f"{match.group(0)}: a test either runs or goes")


def sleeping_tests(tree):
    """Waiting for a condition is fine, and is in one place: tests/support/."""
    for file in tree.code("tests"):
        if in_folder(file, "tests/support") or file.path in SLEEP_ALLOWED:
            continue
        code = without_comments(file.text)
        for match in SLEEP.finditer(code):
            yield Finding(file.path, file.line_of(match.start()),
                          "a test that sleeps; wait for a condition with a deadline")


def swallowed_exceptions(tree):
    """`catch (...)` may only pass on what it caught."""
    for file in tree.code("src", "include"):
        if file.path in CATCH_ALL_ALLOWED:
            continue
        code = without_comments(file.text)
        for match in CATCH_ALL.finditer(code):
            if not PASSED_ON.search(code[match.end():closing_brace(code, match.end())]):
                yield Finding(file.path, file.line_of(match.start()),
                              "catch (...) swallows: name what is expected, or pass it on")


def created_files(tree):
    """What is created through recovery/private_files.hpp cannot be planted or read by others."""
    for file in tree.code("src"):
        if file.path in CREATING_ALLOWED:
            continue
        code = without_comments(file.text)
        for match in CREATING.finditer(code):
            yield Finding(file.path, file.line_of(match.start()),
                          "creates a file; use recovery/private_files.hpp")


def untold_exchanges(tree):
    """What an exchange changed is told where it is performed, and there alone."""
    for file in tree.code("src"):
        if file.path == "src/tasks/perform_exchange.cpp":
            continue
        for match in EXCHANGE.finditer(without_comments(file.text)):
            yield Finding(file.path, file.line_of(match.start()),
                          "exchanges with a store without telling listeners; use perform_exchange")


def same_private_names(tree):
    """Files of one folder are compiled several at a time, so what is private to one must not have
    the name of what is private to another. Often it should be there once."""
    first = {}
    for file in tree.code("src", "tests"):
        folder = str(Path(file.path).parent)
        if file.suffix != ".cpp" or in_folder(file, *APART) or folder in PROGRAMS:
            continue
        for name in sorted(set(private_names(file.text))):
            other = first.setdefault((folder, name), file.path)
            if other != file.path:
                yield Finding(file.path, 1, f"{name} is private to {other}, too")


def formatting(tree):
    paths = [file.path for file in tree.code()]
    if not paths:
        return
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=1", *paths],
                          cwd=tree.root, capture_output=True, text=True)
    pattern = re.compile(r"^(.+?):(\d+):\d+: error: ", re.M)
    found = [Finding(path, int(line), "not as clang-format leaves it")
             for path, line in pattern.findall(done.stderr)]
    if done.returncode != 0 and not found:
        found = [Finding(".clang-format", 1, f"clang-format failed: {done.stderr.strip()}")]
    yield from found


RULES = [long_functions, names, disabled_tests, sleeping_tests, swallowed_exceptions,
         created_files, untold_exchanges, same_private_names, formatting]
