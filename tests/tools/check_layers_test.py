import unittest

from tree import TreeTest


class CheckLayers(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/base/error.h", "")
        self.write("src/exec/topk.h", "")

    def check(self):
        return self.run_tool("check_layers", self.root)

    def test_a_folder_may_include_the_folders_before_it(self):
        self.write("src/exec/topk.c", '#include "exec/topk.h"\n#include "base/error.h"\n#include <string.h>\n')
        self.assertEqual(self.check(), (0, ""))

    def test_a_header_of_a_later_folder_is_reported_with_its_place(self):
        self.write("src/base/error.c", '#include "base/error.h"\n  #  include "exec/topk.h"\n')
        self.assertEqual(self.check(), (1, "src/base/error.c:2: includes exec/topk.h: exec is below base\n"))

    def test_a_library_is_for_its_folders_only(self):
        self.write("src/exec/topk.c", "#include <pg_query.h>\n")
        self.assertEqual(self.check(), (1, "src/exec/topk.c:1: includes pg_query.h: only for sql\n"))

    def test_a_header_must_be_named_by_its_path(self):
        self.write("src/exec/topk.c", '#include "topk.h"\n')
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("not a path from src/", output)

    def test_a_folder_without_a_place_is_reported(self):
        self.write("src/helpers/helpers.h", "")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("src/helpers: a folder that tools/check_layers does not know", output)

    def test_the_build_file_must_keep_the_order(self):
        self.write("meson.build", "foreach layer : ['exec', 'base']\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("meson.build: the layers are not in the order", output)

    def test_the_page_on_architecture_must_list_every_folder(self):
        self.write("docs/architecture.md", "src/base/         errors\n")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("docs/architecture.md: src/exec/ is missing", output)


if __name__ == "__main__":
    unittest.main()
