#!/usr/bin/env python3
"""The command as a user meets it: help, man page, completions, exit codes, JSON, the same bytes."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["SR_COMMAND"]


def run(*arguments, stdin=None, env=None):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, input=stdin, env=env, check=False)


def commands():
    listed = run("--help").stdout.split("commands:")[1]
    return re.findall(r"^  ([a-z0-9-]+(?: [a-z0-9-]+)?)  ", listed, re.M)  # "train", "rl train"


def options(command):
    return re.findall(r"^  (?:-.,|   ) --([a-z0-9-]+)", run(*command.split(), "--help").stdout, re.M)


class Tables(unittest.TestCase):
    """One table makes them all, so they must agree."""

    def test_every_command_has_help_with_an_example(self):
        self.assertIn("simulate", commands())
        for command in commands():
            result = run(*command.split(), "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertEqual(result.stderr, "", command)
            self.assertIn(f"usage: specroute {command}", result.stdout)
            self.assertIn("example:", result.stdout, command)
            for common in ("json", "seed", "threads", "quiet", "verbose", "help"):
                self.assertIn(common, options(command), command)

    def test_man_page_and_completions_name_every_option(self):
        man = run("man").stdout.replace("\\-", "-")
        shells = {shell: run("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
        for command in commands():
            self.assertIn(f".SS {command}", man)
            for option in options(command):
                self.assertIn(f"--{option}", man, command)
                self.assertIn(f"--{option}", shells["bash"], command)
                self.assertIn(f"'--{option}[", shells["zsh"], command)
                self.assertIn(f"from {command.split()[-1]}' -l {option}", shells["fish"], command)

    def test_man_page_is_clean_roff(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        result = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=run("man").stdout,
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.stderr, "")

    def test_shells_accept_their_completions(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                result = subprocess.run([shell, "-n"], input=run("completion", shell).stdout,
                                        capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""), shell)


class Usage(unittest.TestCase):
    def expect(self, code, words, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, words)

    def test_wrong_usage_is_exit_2_and_says_what(self):
        self.expect(2, "no command 'trian'; did you mean 'train'", "trian")
        self.expect(2, "no command 'nonsense'", "help", "nonsense")
        self.expect(2, "no experiment 'table2'; did you mean 'table1'", "reproduce", "table2")
        self.expect(2, "did you mean '--tmix'", "simulate", "ar1", "--tmx", "3")
        self.expect(2, "unknown option '-z'", "simulate", "ar1", "-z")
        self.expect(2, "needs a value", "simulate", "ar1", "--n")
        self.expect(2, "n is '2.5', expected a whole number", "simulate", "ar1", "--n", "2.5")
        self.expect(2, "from 1 to", "simulate", "ar1", "--n=0")
        self.expect(2, "one of iid\\|ar", "simulate", "ar1", "--noise-kind", "pink")
        self.expect(2, "no simulator 'arma'; did you mean 'ar1'", "simulate", "arma")
        self.expect(2, "--range is an option of grid", "simulate", "ar1", "--range", "3")
        self.expect(2, "needs NAME", "simulate")
        self.expect(2, "from 0 to 256", "simulate", "ar1", "--threads", "-1")
        self.expect(2, "too many", "simulate", "ar1", "grid")
        self.expect(2, "takes no value", "simulate", "ar1", "--quiet=1")

    def test_methods_are_checked_before_a_file_is_read(self):
        line = ("train", "/no/such/file.csv", "--target", "y", "-o", "/tmp/never.model")
        self.expect(2, "no plan 'routd'; did you mean 'routed'", *line, "--plan", "routd")
        self.expect(2, "no learner 'tre'; did you mean 'tree'", *line, "--learner", "tre")
        self.expect(2, "no graph 'tme'; did you mean 'time'", *line, "--graph", "tme")
        self.expect(2, "has no option 'part_shar'; did you mean 'part_share'", *line, "--plan", "routed:part_shar=1")
        self.expect(2, "part_share is '7'", *line, "--plan", "routed", "--part-share", "7")
        self.expect(2, "--lag is an option of lag-thin", *line, "--plan", "uniform", "--lag", "7")
        self.expect(2, "--max-depth is an option of tree", *line, "--learner", "ridge", "--max-depth", "3")
        self.expect(2, "members is '0'", *line, "--members", "0")
        self.expect(2, "no plan 'routd'", "compare", "/no/such/file.csv", "--target", "y", "--plans", "uniform,routd")
        self.expect(3, "/no/such/file.csv", *line, "--plan", "routed", "--part-share", "0.3")

    def test_tasks_share_their_options(self):
        """The same rule for T and folds wherever they are taken, checked before a file is read."""
        none = "/no/such/file.csv"
        lines = {"train": ("train", none, "--target", "y", "-o", "/tmp/never.model"), "plan": ("plan", none, "-o", "/tmp/never.npy"),
                 "folds": ("folds", none, "-o", "/tmp/never.csv"), "judge": ("judge", none, none, "--target", "y"),
                 "compare": ("compare", none, "--target", "y")}
        for name, line in lines.items():
            self.expect(3, "/no/such/file.csv", *line, "--tmix", "0")
            self.expect(2, "tmix is '-1', expected a number from 0", *line, "--tmix", "-1")
            if name not in ("plan", "judge"):
                self.expect(2, "buffer is 'x', expected a whole number from -1", *line, "--buffer", "x")
        self.expect(2, "level is '2'", "diagnose", none, "--level", "2")
        self.expect(2, "mode is 'slow', expected", "parts", none, "--mode", "slow")
        self.assertLessEqual({"parts", "mode", "imbalance", "pure", "solver"}, set(options("parts")))

    def test_methods(self):
        listed = json.loads(run("methods", "--json").stdout)["methods"]
        kinds = {method["kind"] for method in listed}
        self.assertLessEqual({"graph", "solver", "plan", "learner", "simulator", "experiment"}, kinds)
        routed = next(m for m in listed if (m["kind"], m["name"]) == ("plan", "routed"))
        self.assertIn("part_share", [option["name"] for option in routed["options"]])
        for option in routed["options"]:
            self.assertLessEqual({"name", "type", "default", "help"}, set(option))
        self.assertEqual(json.loads(run("methods", "plans", "--json").stdout)["methods"],
                         [method for method in listed if method["kind"] == "plan"])
        self.assertIn("part_share", run("methods", "plan").stdout)
        self.expect(2, "did you mean 'plans'", "methods", "planz")

    def test_methods_are_one_line_each_until_a_kind_is_named(self):
        names = [method["name"] for method in json.loads(run("methods", "--json").stdout)["methods"]]
        brief = run("methods").stdout
        for name in names:
            self.assertRegex(brief, rf"(?m)^  {re.escape(name)} ")
        self.assertNotIn("part_share", brief)
        self.assertIn("part_share", run("methods", "-v").stdout)

    def test_options_stand_in_groups(self):
        said = run("train", "--help").stdout
        places = [said.index(heading) for heading in ("\noptions:", "\ncolumns and files:", "\noptions of single methods", "\noptions of every command:")]
        self.assertEqual(places, sorted(places))
        self.assertLess(places[0], said.index("--members"))
        self.assertLess(said.index("--members"), places[1])
        self.assertTrue(places[1] < said.index("--target") < places[2] < said.index("--part-share") < places[3] < said.index("--seed"))
        self.assertEqual(len(options("train")), len(set(options("train"))))

    def test_verbose_says_more_and_quiet_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            run("simulate", "ar1", "--n", "300", "-o", path)
            plain, more, none = (run("diagnose", path, "--target", "y", *flag) for flag in ([], ["-v"], ["-q", "-v"]))
            self.assertEqual(plain.stdout, more.stdout)
            self.assertNotIn("300 rows", plain.stderr)
            self.assertIn("300 rows", more.stderr)
            self.assertIn("x1: numbers", more.stderr)
            self.assertEqual((none.stdout, none.stderr), ("", ""))

    def test_errors_name_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "few.csv")
            for text in ("x,y\n1,a\n2,a\n3,a\n4,a\n", "x,y\n1,\n2,\n", ""):
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
                for command in (["train", path, "-o", path + ".model"], ["tune", path]):
                    result = run(*command, "--target", "y", "--json")
                    self.assertEqual(result.returncode, 3, (text, command, result.stderr))
                    self.assertIn("few.csv", result.stderr, (text, command, result.stderr))
                    self.assertIn("few.csv", json.loads(result.stdout)["error"]["file"])

    def test_scale_has_one_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            path, model = os.path.join(folder, "x.csv"), os.path.join(folder, "x.model")
            run("simulate", "ar1", "--n", "400", "-o", path)
            held = os.path.join(folder, "held.csv")
            lines = (["diagnose", path], ["train", path, "-o", model, "-m", "5", "--held-out", held],
                     ["folds", path, "-o", os.path.join(folder, "f.json")], ["plan", path, "-o", os.path.join(folder, "p.npy")],
                     ["judge", held, path])
            for line in lines:
                answer = json.loads(run(*line, "--target", "y", "--json").stdout)
                self.assertLessEqual({"estimate", "low", "high", "method"}, set(answer["tmix"]), line)
            self.assertIn("estimate", json.loads(run("show", model, "--json").stdout)["tmix"])

    def test_the_bar_is_gone_before_the_first_line(self):
        import pty  # a terminal of our own
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            run("simulate", "ar1", "--n", "4000", "--d", "8", "-o", path)
            main, side = pty.openpty()
            line = [COMMAND, "train", path, "--target", "y", "-o", path + ".model", "-m", "60"]
            process = subprocess.Popen(line, stdout=side, stderr=side, stdin=subprocess.DEVNULL)
            os.close(side)
            seen = b""
            try:
                while True:
                    seen += os.read(main, 65536)
            except OSError:  # the terminal is closed at the end
                pass
            self.assertEqual(process.wait(), 0)
            os.close(main)
            text = seen.decode()
            self.assertIn("s left", text)  # there was a bar
            first = text.index("model     ")
            self.assertTrue(text[:first].endswith("\r\033[K"), repr(text[first - 60:first]))

    def test_completions_know_methods_and_keys(self):
        bash, zsh, fish = (run("completion", shell).stdout for shell in ("bash", "zsh", "fish"))
        self.assertRegex(bash, r"train:--plan\) .*routed")
        self.assertRegex(bash, r"routed\) .*part_share=")
        self.assertRegex(zsh, r"--plan\[.*:plan:\(.*routed")
        self.assertIn("routed:part_share=", fish)

    def test_no_argument_shows_the_overview(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("usage: specroute COMMAND", result.stdout)

    def test_json_errors_are_one_object(self):
        result = run("simulate", "ar1", "--n", "x", "--json")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(json.loads(result.stdout)["error"]["code"], 2)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^specroute \d+\.\d+\.\d+\n$")
        self.assertIn("with     zlib", run("--version", "-v").stdout)
        self.assertIn("features", json.loads(run("--version", "--json").stdout))
        self.assertRegex(run("--version", "-v").stdout, r"with     zlib.* level:(base|v3|v4|neon)\n")

    def test_unknown_vector_level(self):
        levels = json.loads(run("--version", "--json").stdout)["levels"]
        for name in ("bogus", "v", "base v3", "V3"):
            other = dict(os.environ, SPECROUTE_ISA=name)
            self.assertIn(f"SPECROUTE_ISA={name}, which names none of the levels {levels}\n",
                          run("--version", "-v", env=other).stdout)
            self.assertEqual(json.loads(run("--version", "--json", env=other).stdout)["unknown_level"], name)
            result = run("methods", env=other)
            self.assertEqual(result.returncode, 2)
            self.assertIn(levels, result.stderr)
        for name in ("", *levels.split()):
            other = dict(os.environ, SPECROUTE_ISA=name)
            self.assertNotIn("ignored", run("--version", "-v", env=other).stdout)
            self.assertEqual(run("methods", env=other).returncode, 0)


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_json_and_columns(self):
        result = run("simulate", "ar1", "--n", "1000", "--tmix", "10", "--d", "3", "-o", self.path("x.csv"), "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        answer = json.loads(result.stdout)
        self.assertEqual((answer["n"], answer["d"]), (1000, 3))
        self.assertAlmostEqual(answer["bayes_risk"], 0.2309, 3)
        with open(self.path("x.csv"), encoding="ascii") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "x1,x2,x3,y")
        self.assertEqual(len(lines), 1001)
        self.assertTrue(all(line.split(",")[3] in ("-1", "1") for line in lines[1:]))

    def test_same_bytes_at_any_thread_count(self):
        for kind in ("ar1", "grid", "drift"):
            seen = set()
            for threads in ("1", "2", "8"):
                result = run("simulate", kind, "--n", "500", "--threads", threads, "--seed", "7")
                self.assertEqual(result.returncode, 0, result.stderr)
                seen.add(result.stdout)
            self.assertEqual(len(seen), 1, kind)
            self.assertNotEqual(seen, {run("simulate", kind, "--n", "500", "--seed", "8").stdout})

    def test_unwritable_output_is_exit_1(self):
        result = run("simulate", "ar1", "-o", "/no/such/folder/x.csv")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/folder/x.csv", result.stderr)


class Train(unittest.TestCase):
    def test_report_page_shows_both_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            data, model, page = (os.path.join(folder, name) for name in ("x.csv", "x.model", "x.html"))
            self.assertEqual(run("simulate", "ar1", "--n", "1500", "--noise-kind", "ar", "-o", data).returncode, 0)
            result = run("train", data, "--target", "y", "-m", "10", "-o", model, "--report", page, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            error = json.loads(result.stdout)["error"]
            with open(page, encoding="utf-8") as file:
                text = file.read()
            for key in ("naive", "honest"):
                self.assertIn(f"{error[key]:.4f}", text)
            self.assertIn("How dependent the rows are", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
