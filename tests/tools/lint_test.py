import unittest

from tree import TreeTest


class Lint(TreeTest):
    def assert_breach(self, path, text, line, reason):
        """`text` at `path` must be refused at `line`, for a reason that contains `reason`."""
        self.write(path, text)
        code, output = self.run_tool("lint", self.root)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{path}:{line}: ", output)
        self.assertIn(reason, output)

    def assert_clean(self, path, text):
        self.write(path, text)
        self.assertEqual(self.run_tool("lint", self.root), (0, ""))

    def test_a_banned_call_is_reported(self):
        self.assert_breach("src/base/a.c", "void f(char *p)\n{\n    sprintf(p, \"\");\n}\n", 3, "use snprintf")

    def test_a_longer_name_a_member_a_comment_and_a_string_are_no_calls(self):
        self.assert_clean("src/base/a.c", '/* gets(x) */\nint f = strbuf_gets(s->gets(1), x.gets(2), "gets(3)");\n')

    def test_allocation_outside_its_module_is_reported_in_sources_only(self):
        self.assert_clean("tests/base/a_test.c", "void *p = malloc(1);\n")
        self.assert_breach("src/base/a.c", "void *p = malloc(1);\n", 1, "alloc_bytes")

    def test_a_function_that_does_not_fit_is_reported(self):
        body = "    f();\n"
        self.assert_clean("src/base/a.c", "void f(void)\n{\n" + body * 70 + "}\n")
        self.assert_breach("src/base/a.c", "void f(void)\n{\n" + body * 101 + "}\n", 2, "a function of 101 lines")

    def test_a_function_between_the_limits_is_only_mentioned(self):
        self.write("src/base/a.c", "void f(void)\n{\n" + "    f();\n" * 71 + "}\n")
        code, output = self.run_tool("lint", self.root)
        self.assertEqual(code, 0)
        self.assertIn("(only mentioned) a function of 71 lines", output)

    def test_a_file_that_is_too_long_is_reported(self):
        self.assert_breach("src/base/a.c", "\n" * 1001, 1001, "a file of 1001 lines")

    def test_a_header_opens_with_its_purpose_and_has_the_guard_of_its_path(self):
        guard = "#ifndef KITH_BASE_A_H\n#define KITH_BASE_A_H\n#endif\n"
        self.assert_clean("src/base/a.h", "/* What it is for. */\n" + guard)
        self.assert_breach("src/base/a.h", guard, 1, "a header opens with a comment")
        self.assert_breach("src/base/a.h", "/* For. */\n#ifndef A_H\n#endif\n", 1, "KITH_BASE_A_H")

    def test_marks_of_unfinished_work_are_reported(self):
        self.assert_breach("docs/a.md", "one\n" + "TO" + "DO: two\n", 2, "finish it")

    def test_paths_of_one_machine_are_reported(self):
        self.assert_breach("docs/a.md", "see /ro" + "ot/x\n", 1, "a path of one machine")

    def test_a_goto_is_reported(self):
        self.assert_breach("src/base/a.c", "void f(void)\n{\n    goto out;\n}\n", 3, "_cleanup_")


if __name__ == "__main__":
    unittest.main()
