"""The code blocks of README.md and docs/guide, and how they are run: those of a page in order, in one scratch folder."""
import os
import re
import subprocess

LANGUAGES = {"sh", "c", "python", "r", "text"}
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
        self.runs = "no-run" not in words and self.language != "text"
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
                    if not words or words[0] not in LANGUAGES or set(words[1:]) - {"no-run"}:
                        faults.append(f"{page}:{number}: '{line}': expected {', '.join(sorted(LANGUAGES))}, and no-run or nothing")
                else:
                    found.append(Block(page, start, words, "\n".join(block) + "\n"))
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
