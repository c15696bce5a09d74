import json
import unittest

from tree import TreeTest


class TestSummary(TreeTest):
    def write_log(self, folder, *results):
        lines = [json.dumps({"name": f"test {number}", "result": result}) for number, result in enumerate(results)]
        self.write(f"{folder}/meson-logs/testlog.json", "\n".join(lines) + "\n")

    def summarise(self, *folders):
        code, output = self.run_tool("test_summary", *(self.root / folder for folder in folders))
        return code, output.splitlines()[-1]

    def test_the_runs_of_all_folders_are_added_up(self):
        self.write_log("a", "OK", "SKIP")
        self.write_log("b", "OK")
        self.assertEqual(self.summarise("a", "b"), (0, "2 passed, 0 failed, 1 skipped"))

    def test_failures_and_timeouts_fail(self):
        self.write_log("a", "OK", "FAIL", "TIMEOUT")
        self.assertEqual(self.summarise("a"), (1, "1 passed, 2 failed, 0 skipped"))

    def test_a_folder_without_a_log_fails(self):
        self.write_log("a", "OK")
        self.assertEqual(self.summarise("a", "b"), (1, "1 passed, 0 failed, 0 skipped"))

    def test_a_run_of_no_test_fails(self):
        self.write_log("a", "SKIP")
        self.assertEqual(self.summarise("a"), (1, "0 passed, 0 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
