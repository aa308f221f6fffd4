"""Shows every rule something bad and expects it to be seen, and something good that must pass."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import code_rules
import decision_rules
import layout_rules
import text_rules
from tree import Tree

EXAMPLE = "<!-- example: examples/a.cpp -->\n```cpp\n{}```\n"


def findings(rule, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = Path(root) / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_text(text)
        return [(found.path, found.line) for found in rule(Tree(root))]


def function_of(lines, head="int f() {"):
    return head + "\n" + "  ;\n" * (lines - 2) + "}\n"


# Rule, files that break it, and where.
BAD = [
    (text_rules.unfinished, {"a.md": "one\nTODO: two\n"}, [("a.md", 2)]),
    (text_rules.unfinished, {"src/a.cpp": "// FIXME\n"}, [("src/a.cpp", 1)]),
    (text_rules.requirement_ids, {"a.hpp": "\n// FR-017\n"}, [("a.hpp", 2)]),
    (text_rules.machine_paths, {"a.md": "see /work/shared/a\n"}, [("a.md", 1)]),
    (text_rules.machine_paths, {"a.py": "open('/home/ada/b')\n"}, [("a.py", 1)]),
    (text_rules.whitespace, {"a.md": "one \ntwo\n"}, [("a.md", 1)]),
    (text_rules.whitespace, {"a.md": "one\ntwo"}, [("a.md", 2)]),
    (text_rules.long_lines, {"a.cpp": "\n" + "x" * 101 + "\n"}, [("a.cpp", 2)]),
    (text_rules.long_lines, {"script/a": "x" * 101 + "\n"}, [("script/a", 1)]),
    (text_rules.long_files, {"a.sql": "\n" * 401}, [("a.sql", 401)]),
    (text_rules.planning_files, {"docs/PLAN.md": "\n"}, [("docs/PLAN.md", 1)]),
    (text_rules.readme, {}, [("README.md", 1)]),
    (text_rules.readme, {"README.md": "no example\n"}, [("README.md", 1)]),
    (text_rules.readme, {"README.md": "\n" + EXAMPLE.format("int a;\n"),
                         "examples/a.cpp": "int b;\n"}, [("README.md", 2)]),
    (text_rules.readme, {"README.md": EXAMPLE.format("int a;\n")}, [("README.md", 1)]),
    (text_rules.readme, {"README.md": EXAMPLE.format("int a;\n") + "\n" * 150,
                         "examples/a.cpp": "int a;\n"}, [("README.md", 151)]),
    (text_rules.quoted_code, {"docs/a.md": "\n```cpp\nint a;\n```\n",
                              "examples/a.cpp": "int b;\n", "src/a.cpp": "int a;\n"},
     [("docs/a.md", 2)]),
    (text_rules.dead_links, {"docs/a.md": "\nsee [b](../b.md)\n"}, [("docs/a.md", 2)]),
    (code_rules.same_private_names,
     {"src/a/b.cpp": "namespace {\nconstexpr int most = 1;\nint f(int a) { return a; }\n}\n",
      "src/a/c.cpp": "namespace {\nstruct most {};\ntemplate <int i>\nint f(int a) {}\n}\n"},
     [("src/a/c.cpp", 1), ("src/a/c.cpp", 1)]),
    (decision_rules.state_numbers,
     {"src/engines/a/b.cpp": 'auto a = "WHERE t.state = 1";\nauto b = "state + 0 <> 2"\n'
                             '    " AND state IN (0, 5)";\nauto c = "state BETWEEN 2 AND 4";\n',
      "src/engines/a/c.lua": "if r.state == '0' then\nlocal a = { ['3'] = 1 }\n"
                             "if string.find('346', r.state, 1, true) then\n"},
     [("src/engines/a/b.cpp", 1), ("src/engines/a/b.cpp", 2), ("src/engines/a/b.cpp", 3),
      ("src/engines/a/b.cpp", 4), ("src/engines/a/c.lua", 1), ("src/engines/a/c.lua", 2),
      ("src/engines/a/c.lua", 3)]),
    (decision_rules.reasons,
     {"src/tasks/lifecycle.cpp": 'auto a = "waited for {}, which was "\n    "cancelled";\n',
      "src/engines/a/b.cpp": '\nauto a = "it ended, which was"\n    " cancelled";\n',
      "src/engines/a/c.lua": "local a = 'x, which was cancelled'\n"},
     [("src/engines/a/b.cpp", 2), ("src/engines/a/c.lua", 1)]),
    (decision_rules.actors,
     {"src/a.cpp": 'auto a = "system/recovery";\n', "src/b.lua": "\nlocal a = 'system/x'\n"},
     [("src/a.cpp", 1), ("src/b.lua", 2)]),
    (code_rules.long_functions, {"a.cpp": "\n" + function_of(71)}, [("a.cpp", 2)]),
    (code_rules.long_functions,
     {"a.cpp": function_of(71, "A::A(int b) : b_{b}, c_{\"}\"} {")}, [("a.cpp", 1)]),
    (code_rules.long_functions,
     {"a.cpp": "namespace a {\nclass B {\n public:\n" + function_of(71, "  int b() const {")
      + "};\n}\n"}, [("a.cpp", 3)]),
    (code_rules.long_functions, {"a.cpp": function_of(71, "TEST(A, B) {")}, [("a.cpp", 1)]),
    (code_rules.names, {"src/tasks/string_utils.cpp": "\n"}, [("src/tasks/string_utils.cpp", 1)]),
    (code_rules.names, {"src/core/a.hpp": "\n"}, [("src/core/a.hpp", 1)]),
    (code_rules.names, {"a.hpp": "\nclass TaskManager {};\n"}, [("a.hpp", 2)]),
    (code_rules.names, {"a.hpp": "struct EngineFactory {};\n"}, [("a.hpp", 1)]),
    (code_rules.names, {"a.hpp": "class EngineImpl {};\n"}, [("a.hpp", 1)]),
    (code_rules.disabled_tests, {"tests/a.cpp": "TEST(A, DISABLED_B) {}\n"}, [("tests/a.cpp", 1)]),
    (code_rules.disabled_tests, {"tests/a.cpp": "\nGTEST_SKIP();\n"}, [("tests/a.cpp", 2)]),
    (code_rules.sleeping_tests,
     {"tests/a.cpp": "\nstd::this_thread::sleep_for(1s);\n"}, [("tests/a.cpp", 2)]),
    (code_rules.sleeping_tests, {"tests/a.cpp": "::usleep(5);\n"}, [("tests/a.cpp", 1)]),
    (code_rules.swallowed_exceptions,
     {"src/a.cpp": "void f() {\n  try {\n    g();\n  } catch (...) {\n    h();\n  }\n}\n"},
     [("src/a.cpp", 4)]),
    (code_rules.created_files,
     {"src/a.cpp": "\nint f = ::open(p,\n  O_RDWR | O_CREAT, 0600);\n"}, [("src/a.cpp", 2)]),
    (code_rules.created_files, {"src/a.cpp": "std::ofstream{p} << 1;\n"}, [("src/a.cpp", 1)]),
    (code_rules.created_files, {"src/a.cpp": "fs::create_directories(p);\n"}, [("src/a.cpp", 1)]),
    (code_rules.untold_exchanges,
     {"src/a.cpp": "\nparts.tasks().exchange(one);\n"}, [("src/a.cpp", 2)]),
    (code_rules.untold_exchanges, {"src/a.cpp": "to_.tasks()\n  .exchange({});\n"},
     [("src/a.cpp", 1)]),
    (code_rules.formatting,
     {"a.cpp": "int a;\nint  b;\n", ".clang-format": "BasedOnStyle: Google\n"}, [("a.cpp", 2)]),
    (layout_rules.include_direction,
     {"include/holdfast/a.hpp": '#include "recovery/b.hpp"\n'}, [("include/holdfast/a.hpp", 1)]),
    (layout_rules.include_direction,
     {"src/recovery/a.hpp": '#include "tasks/b.hpp"\n', "src/tasks/b.hpp": "\n"},
     [("src/recovery/a.hpp", 1)]),
    (layout_rules.include_direction,
     {"src/engines/sqlite/a.hpp": '\n#include "engines/redis/b.hpp"\n',
      "src/engines/redis/b.hpp": "\n"}, [("src/engines/sqlite/a.hpp", 2)]),
    (layout_rules.include_direction,
     {"src/http/a.hpp": '#include "batches/b.hpp"\n', "src/batches/b.hpp": "\n"},
     [("src/http/a.hpp", 1)]),
    (layout_rules.include_direction, {"src/somewhere/a.hpp": "\n"}, [("src/somewhere/a.hpp", 1)]),
    (layout_rules.database_headers,
     {"src/tasks/a.cpp": "#include <sqlite3.h>\n"}, [("src/tasks/a.cpp", 1)]),
    (layout_rules.unlisted_sources,
     {"src/a.cpp": "\n", "src/CMakeLists.txt": "add_library(x ba.cpp)\n"}, [("src/a.cpp", 1)]),
]

# Rule and files that it must leave alone, because they look like what it is after.
GOOD = [
    (text_rules.unfinished, {"a.sh": "mktemp -d name.XXXXXX\n"}),
    (text_rules.machine_paths, {"a.md": "see ../work/a, https://x.org/root/b and build/work/c\n"}),
    (text_rules.long_lines, {"a.md": "x" * 200 + "\n", "a.cpp": "x" * 100 + "\n"}),
    (text_rules.planning_files, {"docs/status_codes.md": "\n", "src/cli/status.cpp": "\n"}),
    (text_rules.readme, {"README.md": "hello\n\n" + EXAMPLE.format("int a;\n\n"),
                         "examples/a.cpp": "int a;\n\n"}),
    (text_rules.quoted_code, {"docs/a.md": "```cpp\n  int a;\n```\n```\nint b;\n```\n",
                              "examples/a.cpp": "{\n  int a;\n}\n"}),
    (text_rules.dead_links, {"docs/a.md": "[b](../b.md#c), [d](https://x.org/e)\n", "b.md": "\n"}),
    (decision_rules.state_numbers,
     {"src/engines/a/b.cpp": 'auto a = "WHERE state = {running} AND state IN {finished}";\n'
                             "for (int state = 0;;) {}\n",
      "src/engines/a/c.lua": "if r.state == PENDING and r.token == '0' then\n",
      "src/engines/a/d.sql": "CREATE INDEX i ON t (a) WHERE state = 0;\n"}),
    (decision_rules.reasons,
     {"src/tasks/lifecycle.cpp": 'auto a = "waited for {}, which was cancelled";\n',
      "src/engines/a/b.cpp": '// it waited for one, which was cancelled\nauto a = "was it";\n'}),
    (decision_rules.actors, {"src/recovery/actors.hpp": 'auto a = "system/recovery";\n',
                             "src/a.cpp": '#include "engines/filesystem/sweep.hpp"\n'}),
    (code_rules.long_functions, {"a.cpp": function_of(70)}),
    (code_rules.long_functions, {"a.cpp": function_of(90, "namespace a {")}),
    (code_rules.long_functions, {"a.cpp": function_of(90, "template <class A = B<int()>>\n"
                                                          "class C : public D {")}),
    (code_rules.long_functions, {"a.cpp": function_of(90, "const A table = {")}),
    (code_rules.long_functions, {"a.cpp": function_of(60) + "// {\n" + function_of(60)}),
    (code_rules.names, {"a.hpp": "class Worker {\n  class Impl;\n};\n// a Manager\n",
                        "src/engines/score.cpp": "\n"}),
    (code_rules.sleeping_tests, {"tests/a.cpp": "// sleep_for( is not wanted\nasleep(1);\n",
                                 "src/a.cpp": "usleep(1);\n"}),
    (code_rules.swallowed_exceptions,
     {"src/a.cpp": "void f() {\n  try {\n    g();\n  } catch (...) {\n    h();\n    throw;\n  }\n"
                   "}\n"}),
    (code_rules.created_files,
     {"src/a.cpp": "auto f = open_private(p, O_RDWR | O_CREAT);\nint g = ::open(p, O_RDONLY);\n",
      "src/recovery/private_files.cpp": "::mkdirat(f, n, 0700);\n"}),
    (code_rules.untold_exchanges,
     {"src/a.cpp": "std::exchange(a, b);\nbatches_.exchange(c);\n",
      "src/tasks/perform_exchange.cpp": "parts.tasks().exchange(one);\n"}),
    (code_rules.formatting, {"a.cpp": "int a;\n", ".clang-format": "BasedOnStyle: Google\n"}),
    (layout_rules.include_direction,
     {"src/tasks/a.hpp": '#include "recovery/b.hpp"\n#include <holdfast/c.hpp>\n',
      "src/recovery/b.hpp": "\n",
      "src/open.cpp": '#include "engines/sqlite/d.hpp"\n', "src/engines/sqlite/d.hpp": "\n",
      "src/engines/sidekiq/e.hpp": '#include "engines/redis/f.hpp"\n',
      "src/engines/redis/f.hpp": "\n"}),
    (layout_rules.database_headers,
     {"src/engines/sqlite/a.cpp": "#include <sqlite3.h>\n", "tests/b.cpp": "#include <sqlite3.h>\n",
      "include/holdfast/sqlite.hpp": "#include <holdfast/sqlite3.h>\n"}),
    (layout_rules.unlisted_sources,
     {"src/a.cpp": "\n", "src/CMakeLists.txt": "add_library(x a.cpp)\n",
      "tests/b/c.cpp": "\n", "tests/CMakeLists.txt": "add_executable(y b/c.cpp)\n",
      "tests/d.cpp": "\n", "tests/e/CMakeLists.txt": "add_executable(z ../d.cpp)\n"}),
]


class Rules(unittest.TestCase):
    def test_see_what_is_bad(self):
        for rule, files, expected in BAD:
            with self.subTest(rule=rule.__name__, files=list(files)):
                self.assertEqual(findings(rule, files), expected)

    def test_leave_alone_what_is_good(self):
        for rule, files in GOOD:
            with self.subTest(rule=rule.__name__, files=list(files)):
                self.assertEqual(findings(rule, files), [])

    def test_each_was_shown_something_bad(self):
        shown = {rule for rule, _, _ in BAD}
        rules = set(text_rules.RULES + code_rules.RULES + decision_rules.RULES + layout_rules.RULES)
        self.assertEqual({rule.__name__ for rule in rules - shown}, set())


if __name__ == "__main__":
    unittest.main()
