"""The code blocks of README.md and docs/guide, and how they are run: those of a page in order, in one scratch folder. Every
block runs but those of text, and a block of text holds no command."""
import os
import re
import subprocess
import sys
import time

import every_command

LANGUAGES = {"sh", "c", "python", "r", "text"}
# How a block of sh is run: in a copy of the source with a new Python environment (minutes, with SR_FULL=1), or in a terminal
# where q is pressed.
WAYS = {"tree", "terminal"}
COMMANDS = re.compile(r"^(\$ |\./|(specroute|sudo|pip|python3?|cmake|ctest|docker|apt|apt-get|git|Rscript) )", re.M)
# What a C block may use without saying where it comes from, as in examples/embed.c.
C_PROLOGUE = """#include <specroute/specroute.h>
#include <stdio.h>
static int32_t label[2500];
int main(void) {
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  uint64_t seed = 1;
  sr_read_options read;
  sr_read_options_init(&read);
  const char *const places[] = {"coordinate1", "coordinate2", NULL};
  read.target = "y";
  read.coordinates = places;
  if (sr_context_new(NULL, &ctx) != SR_OK || sr_table_read(ctx, "block.csv", &read, &table) != SR_OK) return 2;
"""
C_GRAPH = """  sr_graph *graph = NULL;
  if (sr_graph_build(ctx, table, "space:8", seed, &graph) != SR_OK) return 2;
"""
C_EPILOGUE = """
  (void)label, (void)seed;
  sr_ensemble_free(&ensemble);
  sr_graph_free(&graph);
  sr_table_free(&table);
  if (status != SR_OK) fprintf(stderr, "%s\\n", sr_context_error(ctx).message);
  sr_context_free(&ctx);
  return status != SR_OK;
}
"""


class Block:
    def __init__(self, page, line, words, text):
        self.place = f"{page}:{line}"
        self.language = words[0] if words else ""
        self.way = words[1] if len(words) > 1 else ""
        self.runs = self.language != "text"
        self.text = text


def pages(source):
    guide = os.path.join(source, "docs", "guide")
    return ["README.md"] + [f"docs/guide/{name}" for name in sorted(os.listdir(guide)) if name.endswith(".md")]


def blocks(source, page):
    """The blocks of a page, and what is wrong with how they are written."""
    found, faults, block, start, before = [], [], None, 0, ""
    with open(os.path.join(source, page), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if line.startswith("```"):
                if block is None:
                    block, start, words = [], number, line[3:].split()
                    if not words or words[0] not in LANGUAGES or words[1:] and (words[0] != "sh" or words[1] not in WAYS or words[2:]):
                        faults.append(f"{page}:{number}: '{line}': expected one of {', '.join(sorted(LANGUAGES))}, "
                                      f"or sh and one of {', '.join(sorted(WAYS))}")
                else:
                    found.append(Block(page, start, words, "\n".join(block) + "\n"))
                    if words[:1] == ["text"] and COMMANDS.search(found[-1].text):
                        faults.append(f"{page}:{start}: a command in a block of text is never run; say sh")
                    block = None
            elif block is not None:
                block.append(line)
            elif line.startswith("    ") and not before.strip():
                faults.append(f"{page}:{number}: an indented block is never run; put it between ```")
            before = line
    return found, faults


def prepare(source, folder):
    os.symlink(os.path.join(source, "data"), os.path.join(folder, "data"))
    os.mkdir(os.path.join(folder, "out"))


def environment(command):
    """`specroute` is on the PATH, as the README says."""
    out = dict(os.environ)
    out["PATH"] = os.path.dirname(os.path.abspath(command)) + os.pathsep + out["PATH"]
    return out


def run(arguments, folder, command, **more):
    done = subprocess.run(arguments, cwd=folder, env=environment(command), capture_output=True, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", check=False, **more)
    return None if done.returncode == 0 else f"exit {done.returncode}: {(done.stdout + done.stderr)[-600:]}"


def run_shell(block, folder, command):
    return run(["bash", "-euo", "pipefail", "-c", block.text], folder, command)


def run_in_terminal(block, folder, command):
    """Until it ends, q is pressed again and again."""
    terminal = every_command.Terminal()
    process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment(command), stdin=terminal.side,
                               stdout=terminal.side, stderr=subprocess.PIPE, preexec_fn=terminal.take)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.3)
        os.write(terminal.main, b"q")
    if process.poll() is None:
        process.kill()
    said = process.communicate()[1].decode(errors="replace")
    terminal.close()
    return None if process.returncode == 0 else f"exit {process.returncode}: {said[-600:]}"


def run_in_tree(block, folder, source):
    """What installs and builds: in a copy of what is committed, with an empty Python environment on the PATH."""
    tree = os.path.join(folder, "tree")
    os.mkdir(tree)
    archive = subprocess.Popen(["git", "-C", source, "archive", "HEAD"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    archive.stdout.close()
    if archive.wait() != 0:
        return "needs a repository of git"
    empty = os.path.join(folder, "venv")
    subprocess.run([sys.executable, "-m", "venv", empty], check=True)
    return run(["bash", "-euo", "pipefail", "-c", block.text], tree, os.path.join(empty, "bin", "python"))


def run_r(block, folder, command):
    """A block says all that it needs."""
    script = os.path.join(folder, "block.R")
    with open(script, "w", encoding="utf-8") as file:
        file.write(block.text)
    return run(["Rscript", "--vanilla", script], folder, command)


def run_c(block, folder, command, source, build, flags):
    """Compiles and runs a block inside a function that has a context, a table and a graph."""
    own = re.search(r"sr_graph \*graph", block.text)
    text = C_PROLOGUE + ("" if own else C_GRAPH) + block.text + C_EPILOGUE
    with open(os.path.join(folder, "block.c"), "w", encoding="utf-8") as file:
        file.write(text)
    steps = [["specroute", "simulate", "grid:n=2500", "-o", "block.csv", "-q"],
             [os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror", *flags, "block.c", "-o", "block",
              f"-I{source}/include", f"-L{build}", f"-Wl,-rpath,{build}", "-lspecroute"], ["./block"]]
    for step in steps:
        fault = run(step, folder, command)
        if fault:
            return fault
    return None


def run_python(block, state):
    """Blocks of a page share their names, as in a session."""
    exec(compile(block.text, block.place, "exec"), state)  # pylint: disable=exec-used
