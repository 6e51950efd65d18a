#!/usr/bin/env python3
"""The tests' own tools: that tests/mutations/run reads its lists strictly and takes nothing but a failing test for a
killed mutant, that tests/run sees every skip, and that container images install what ./dev installs to build."""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]


def tool(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("/", "_"), str(TESTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


mutate = tool("mutations/run")
runner = tool("run")

GOOD = {"id": "a-rule", "file": "core/a.cpp", "before": "if (x) return;", "after": "", "tests": ["test_a one"],
        "rule": "There is a rule."}


def mutant(**changes):
    return mutate.mutant_of("core_run", {**GOOD, **changes})


class Lists(unittest.TestCase):
    def load(self, *entries):
        with tempfile.TemporaryDirectory() as folder:
            for number, content in enumerate(entries):
                text = content if isinstance(content, str) else json.dumps(content)
                pathlib.Path(folder, f"room_{number}.json").write_text(text)
            return mutate.load(pathlib.Path(folder))

    def test_a_list_is_read(self):
        self.assertEqual([m.id for m in self.load([GOOD], [{**GOOD, "id": "other"}])], ["a-rule", "other"])

    def test_what_is_wrong_with_a_list_is_refused(self):
        for wrong in ("{", {}, [1], [{**GOOD, "more": 1}], [{"id": "a"}], [{**GOOD, "tests": []}],
                      [{**GOOD, "redundant": "why"}], [{**GOOD, "after": "  if (x) return; "}], [GOOD, GOOD]):
            with self.assertRaises(mutate.BadList, msg=wrong):
                self.load(wrong)

    def test_the_line_must_be_one(self):
        once = "a\n    if (x) return;\nb\n"
        self.assertEqual(mutate.mutated(mutant(after="return;"), once), "a\n    return;\nb\n")
        self.assertEqual(mutate.mutated(mutant(), once), "a\n\nb\n")
        for text in ("a\n", once + once, "if (x) return; // more\n"):
            with self.assertRaises(mutate.BadList):
                mutate.line_of(mutant(), text)
        self.assertEqual(mutate.line_of(mutant(nth=2), once + once), 4)
        with self.assertRaises(mutate.BadList):
            mutate.line_of(mutant(nth=3), once + once)

    def test_rooms_folders_and_ids_choose(self):
        both = [mutant(), mutate.mutant_of("net", {**GOOD, "id": "wire", "file": "net/b.cpp"})]
        for name, ids in (("core_run", ["a-rule"]), ("core/run", ["a-rule"]), ("net/", ["wire"]), ("wire", ["wire"])):
            self.assertEqual([m.id for m in mutate.chosen(both, [name])], ids)
        with self.assertRaises(mutate.BadList):
            mutate.chosen(both, ["nowhere"])


class Verdicts(unittest.TestCase):
    def judged(self, compiles, fails, baseline=""):
        class Scripted(mutate.Build):
            def __init__(self, folder):
                self.sources, self.baselines = folder, {"test_a one": (baseline, 0.1)}

            def compile(self, tests):
                return "" if compiles else "error: what?"

            def run(self, test, seconds):
                seen.append((self.sources / GOOD["file"]).read_text())
                return ("test_a one" if fails else ""), 0.1

        seen = []
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "core").mkdir()
            (folder / GOOD["file"]).write_text("if (x) return;\n")
            outcome = Scripted(folder).judge(mutant())
            self.assertEqual((folder / GOOD["file"]).read_text(), "if (x) return;\n")
        self.assertTrue(all(text == "\n" for text in seen))
        return outcome.word, outcome.failed()

    def test_only_a_failing_test_kills(self):
        self.assertEqual(self.judged(compiles=True, fails=True), ("killed", False))
        self.assertEqual(self.judged(compiles=True, fails=False), ("SURVIVED", True))
        self.assertEqual(self.judged(compiles=False, fails=True), ("INVALID", True))
        self.assertEqual(self.judged(compiles=True, fails=True, baseline="fails anyway"), ("INVALID", True))

    def test_how_a_test_failed_is_told(self):
        self.assertEqual(mutate.how_it_failed("test_a", 0, "FAIL!  : A::b() x"), "")
        self.assertEqual(mutate.how_it_failed("test_a", 1, "PASS\nFAIL!  : A::b(row) x"), "test_a b:row")
        self.assertEqual(mutate.how_it_failed("test_a c", -6, "core"), "test_a c: signal 6")


class Images(unittest.TestCase):
    def missing(self, container, script):
        """Libraries that ./dev installs to build, but for the window's, and that the image does not."""
        listed = re.search(r"apt_packages=\((.*?)\)", script, re.DOTALL)[1].split()
        of_the_window = ("qt6-", '"qt6-', "libxcb1-dev")
        needed = {name for name in listed if name.endswith("-dev") and not name.startswith(of_the_window)}
        return sorted(needed - set(container.split()))

    def test_images_install_what_the_build_needs(self):
        script = (TESTS.parent / "dev").read_text()
        containers = sorted((TESTS.parent / "installer").glob("*/Containerfile"))
        self.assertEqual(len(containers), 2)
        for container in containers:
            self.assertEqual(self.missing(container.read_text(), script), [], container)

    def test_the_root_of_arm64_packages_has_what_the_build_needs(self):
        packages = re.search(r"arm_packages=\((.*?)\)", (TESTS / "arm" / "root.sh").read_text(), re.DOTALL)[1]
        self.assertEqual(self.missing(packages, (TESTS.parent / "dev").read_text()), [])

    def test_a_missing_library_is_found(self):
        script = 'apt_packages=(git qt6-base-dev\n    libxcb1-dev libpng-dev zlib1g-dev)\n'
        self.assertEqual(self.missing("RUN apt-get install -y libpng-dev", script), ["zlib1g-dev"])


class Skips(unittest.TestCase):
    def test_every_skip_of_a_log_is_found_once(self):
        log = ("1/2 Testing: test_a\n1/2 Test: test_a\nPASS   : A::x()\nSKIP   : A::y(row) no such thing\n   Loc: [a(1)]\n"
               "2/2 Test: test_b\nSKIP   : B::z() \nSKIP   : B::z() \n")
        self.assertEqual(runner.skips_in(log), [("test_a", "y", "(row)", "no such thing"), ("test_b", "z", "", "")])

    def test_the_list_of_expected_skips_is_read(self):
        self.assertIn(("test_cuda_optimizer", "*"), runner.expected_skips())


if __name__ == "__main__":
    unittest.main()
