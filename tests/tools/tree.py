"""A source tree in a temporary folder, for tests of the programs in tools/."""

import pathlib
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


class TreeTest(unittest.TestCase):
    """Gives each test an empty tree to write files to and to run a tool on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_tool(self, name, *arguments):
        """Returns (exit code, output)."""
        done = subprocess.run([TOOLS / name, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr
