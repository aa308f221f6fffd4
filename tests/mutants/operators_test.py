import unittest

from operators import mutants


def changed(path, line):
    return [mutant.after for mutant in mutants(path, line + "\n")]


class Operators(unittest.TestCase):
    def test_code(self):
        self.assertEqual(changed("a.cpp", "  if (now < until) return true;"),
                         ["  if (now <= until) return true;", "  if (now < until) return false;",
                          "  if (!(now < until)) return true;"])
        self.assertEqual(changed("a.cpp", "  file_.sync();"), [""])
        self.assertEqual(changed("a.cpp", "  auto end = now + lease;"),
                         ["  auto end = now - lease;"])
        self.assertEqual(changed("a.cpp", "// a == b"), [])
        self.assertEqual(changed("a.cpp", "  kill_point(KillPoint::a);"), [])
        self.assertEqual(changed("a.cpp", '  say("a == b", c);'), [""])

    def test_sql(self):
        self.assertEqual(changed("a.cpp", '  " WHERE id = ?1 AND token = ?2 AND state = 1"'),
                         ['  " WHERE id = ?1 AND state = 1"', '  " WHERE id = ?1 AND token = ?2"'])
        self.assertEqual(changed("a.cpp", '  " ORDER BY id FOR UPDATE OF t SKIP LOCKED",'),
                         ['  " ORDER BY id",', '  " ORDER BY id FOR UPDATE OF t",'])

    def test_lua(self):
        self.assertEqual(changed("a.lua", "  if not r or r.token ~= token then"),
                         ["  if not r or r.token == token then",
                          "  if not r and r.token ~= token then",
                          "  if r or r.token ~= token then"])
        self.assertEqual(changed("a.lua", "    release(r.worker, id)"), [""])
        self.assertEqual(changed("a.lua", "-- a == b"), [])

    def test_names_do_not_depend_on_the_line(self):
        first, = mutants("a.cpp", "  return true;\n")
        second, = mutants("a.cpp", "\n\n  return true;\n")
        self.assertEqual(first.name, second.name)
        self.assertNotEqual(first.line, second.line)


if __name__ == "__main__":
    unittest.main()
