"""The report in a real browser: no console errors, every plot present and of non-zero size, nothing
from the network, in light, dark and on a phone."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not CHROMIUM:
    print("no chromium: skipped")
    sys.exit(77)

COMMAND = os.environ["SR_COMMAND"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--enable-logging=stderr"]
# Asks the page itself: the size of every plot, and whether the text is wider than the window.
PROBE = """<script>
addEventListener('load', () => {
  const sizes = [...document.querySelectorAll('figure svg')].map(s => {
    const r = s.getBoundingClientRect();
    return [Math.round(r.width), Math.round(r.height), s.querySelectorAll('path,rect,image,circle').length,
            s.getAttribute('aria-label') || ''];
  });
  // Words that leave their picture, or lie on each other.
  const faults = [];
  for (const s of document.querySelectorAll('figure svg')) {
    const frame = s.getBoundingClientRect();
    const words = [...s.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    words.forEach(([text, r], k) => {
      if (r.left < frame.left - 2 || r.right > frame.right + 2 || r.top < frame.top - 2 || r.bottom > frame.bottom + 2)
        faults.push('cut off: ' + text);
      for (const [other, o] of words.slice(k + 1))
        if (Math.min(r.right, o.right) - Math.max(r.left, o.left) > 1.5 && Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top) > 3)
          faults.push(text + ' lies on ' + other);
    });
  }
  const wide = [...document.querySelectorAll('h1,h2,h3,p,.note,figcaption')].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent);
  // Names of rows that a narrow column breaks inside their words.
  const squeezed = [...document.querySelectorAll('tbody th')].filter(e => {
    const style = getComputedStyle(e), inside = e.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    const allowed = e.textContent.split(/[\\s-]+/).reduce((lines, word) => lines + Math.ceil(word.length / 8), 0);
    const range = document.createRange();
    range.selectNodeContents(e);
    return Math.min(inside, range.getBoundingClientRect().height) / parseFloat(style.lineHeight) > allowed + 0.5;
  }).map(e => e.textContent);
  const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5')].map(e => +e.tagName[1]);
  const answer = document.createElement('pre');
  answer.id = 'probe';
  answer.textContent = JSON.stringify({sizes, width: document.documentElement.scrollWidth, window: innerWidth,
    paper: getComputedStyle(document.body).backgroundColor, ids: [...document.querySelectorAll('[id]')].map(e => e.id),
    faults, wide, squeezed, levels, links: document.querySelectorAll('nav a').length});
  parent.document.body.append(answer);
});
</script>"""


def browse(root, page, name, *more):
    result = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={root / name}", *more, page.as_uri()],
                            capture_output=True, text=True, timeout=120)
    if "--dump-dom" in more and "<html" not in result.stdout:
        print("chromium does not start here: skipped\n" + result.stderr[-500:])
        sys.exit(77)
    return result


def check(condition, message):
    if not condition:
        print("FAILED: " + message)
        sys.exit(1)


def make(*words):
    made = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300)
    check(made.returncode == 0, " ".join(map(str, words)) + made.stderr)


def pages(root):
    """A page of every kind that a command makes, on small data: its name and what its first note must say."""
    stream, grid, runs, model, held = (root / name for name in ("stream.csv", "grid.csv", "runs.csv", "a.model", "held.csv"))
    make("simulate", "ar1", "--n", 1000, "--tmix", 8, "--d", 3, "-o", stream, "-q")
    make("simulate", "grid", "--n", 400, "-o", grid, "-q")
    lines = stream.read_text().splitlines()
    runs.write_text("\n".join(["run," + lines[0]] + [f"run {k // 60},{line}" for k, line in enumerate(lines[1:])]) + "\n")
    train = ("--members", 12, "-q")
    make("train", stream, "--target", "y", "-o", model, "--held-out", held, "--report", root / "train.html", *train)
    make("train", grid, "--target", "y", "--coords", "coordinate1,coordinate2", "-o", root / "m", "--report", root / "map.html", *train)
    make("train", runs, "--target", "y", "--group", "run", "-o", root / "m", "--report", root / "groups.html", *train)
    make("compare", stream, "--target", "y", "--plans", "uniform,routed", "--report", root / "compare.html", *train)
    make("diagnose", stream, "--target", "y", "--report", root / "diagnose.html", "-q")
    make("show", model, "--report", root / "show.html", "-q")
    make("judge", held, stream, "--target", "y", "--report", root / "judge.html", "-q")
    make("tune", stream, "--target", "y", "--tries", 3, "--plans", "uniform", "--report", root / "tune.html", *train)
    long = root / ("a_folder_with_a_very_long_name_" * 3)
    long.mkdir()
    shutil.copy(stream, long / "and_a_file_with_another.csv")
    make("diagnose", long / "and_a_file_with_another.csv", "--target", "y", "--report", root / "long.html", "-q")
    quick = ("--steps", 1200, "--start", 200, "-q")
    make("rl", "train", "--game", "breakout", "-o", root / "agent", "--report", root / "rl_train.html", *quick)
    make("rl", "compare", "--games", "breakout", "--samplers", "uniform,routed", "--seeds", 2, "--episodes", 2, "-o", root / "rl",
         "--report", root / "rl_compare.html", *quick)
    return {"long": "depend on each other", "rl_train": "the agent returns", "rl_compare": "has the highest mean return", "train": "naive estimate", "map": "naive estimate", "groups": "groups that it never saw", "compare": "smallest error",
            "diagnose": "hold out whole stretches", "show": "naive estimate", "judge": "predictions are wrong on", "tune": "never saw"}


def probe(root, name, width=390, scheme=1):
    """What the browser sees of the page root/name.html: in a frame, as no window is narrower than 500 pixels."""
    text = (root / (name + ".html")).read_text().replace("</body>", PROBE + "</body>")
    probed = root / (name + "_probed.html")
    probed.write_text(f'<!doctype html><meta charset="utf-8"><body><iframe style="width:{width}px;height:900px;border:0" '
                      f'srcdoc="{html.escape(text)}"></iframe></body>')
    result = browse(root, probed, f"{name}_{width}_{scheme}", "--dump-dom", f"--window-size={width + 100},1000",
                    f"--blink-settings=preferredColorScheme={scheme}")
    check("CONSOLE" not in result.stderr, f"{name}: {result.stderr[-800:]}")
    answer = re.search(r'<pre id="probe">(.*?)</pre>', result.stdout, re.S)
    check(answer, f"{name}: the page did not answer")
    seen = json.loads(html.unescape(answer.group(1)))
    check(seen["window"] == width, f"{name}: a window of {seen['window']} pixels, not {width}")
    return seen


def check_kinds(root):
    for name, words in pages(root).items():
        text = (root / (name + ".html")).read_text()
        check(words in text, f"{name}: its headline does not say '{words}'")
        check("<script" not in text and not re.search(r'(src|href)="?https?:', text), f"{name}: a script or the network")
        check(text.count("<h1") == 1, f"{name}: one h1")
        check("Made by specroute" in text, f"{name}: no command in its footer")
        seen = probe(root, name)
        check(seen["width"] <= seen["window"] + 1, f"{name}: {seen['width']} wide in a window of {seen['window']}")
        check(not seen["faults"], f"{name}: {seen['faults']}")
        check(not seen["wide"], f"{name}: too wide: {seen['wide']}")
        check(not seen["squeezed"], f"{name}: broken words: {seen['squeezed']}")
        levels = seen["levels"]
        check(levels[0] == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"{name}: headings jump: {levels}")
        check(levels.count(2) < 4 or seen["links"] == levels.count(2), f"{name}: {seen['links']} links for {levels.count(2)} chapters")
        check(seen["sizes"] or name in ("show",), f"{name}: no picture")
        for w, h, shapes, said in seen["sizes"]:
            check(0 < w <= seen["window"] and h > 40 and shapes > 0, f"{name}: a picture of {w} x {h} with {shapes} shapes")
            check(len(said) > 10, f"{name}: a picture without words")
    for name, title in (("map", "Map of the errors"), ("map", "folds on the map"), ("groups", "Error by group"),
                        ("train", "Error in the order of the rows"), ("train", "Calibration"), ("train", "Confusion"),
                        ("train", "What made the gain"), ("train", "is set"), ("train", "number of members"), ("judge", "Confusion")):
        check(title in (root / (name + ".html")).read_text(), f"{name}: no '{title}'")


def main():
    root = pathlib.Path(tempfile.mkdtemp())
    try:
        results = pathlib.Path(os.environ["SR_SOURCE"]) / "experiments" / "results"
        page = root / "report.html"
        made = subprocess.run([COMMAND, "report", str(results), "-o", str(page), "--json"],
                              capture_output=True, text=True)
        check(made.returncode == 0, made.stderr)
        said = json.loads(made.stdout)
        text = page.read_text()
        check("<script" not in text, "the page has a script")
        check(re.search(r'class="note[^>]*>[0-9]+ experiments: ', text), "the page has no headline")
        check(not re.search(r'(src|href)="?https?:', text), "the page loads from the network")
        papers = []
        for name, width, scheme in (("desktop", 1280, 1), ("dark", 1280, 0), ("phone", 390, 1)):
            seen = probe(root, "report", width, scheme)
            check(len(seen["sizes"]) == said["plots"] > 0, f"{name}: {len(seen['sizes'])} plots of {said['plots']}")
            for w, h, shapes, words in seen["sizes"]:
                check(w > 200 and h > 100 and shapes > 5, f"{name}: a plot of {w} x {h} with {shapes} shapes")
                check(w <= seen["window"], f"{name}: a plot of {w} pixels in a window of {seen['window']}")
                check(len(words) > 10, f"{name}: a plot without words")
            check(seen["width"] <= seen["window"] + 1, f"{name}: wider than the window: {seen['width']}")
            check(not seen["squeezed"], f"{name}: broken words: {seen['squeezed'][:9]}")
            check(not seen["faults"], f"{name}: {seen['faults']}")
            ids = seen["ids"]
            check(len(set(ids)) == len(ids), f"{name}: names are used twice")
            papers.append(seen["paper"])
        check(papers[0] != papers[1], "dark mode looks like light mode")
        picture = root / "page.png"
        browse(root, page, "picture", f"--screenshot={picture}", "--window-size=1000,1400")
        check(picture.exists() and picture.stat().st_size > 20000, "no screenshot")
        check_kinds(root)
        print(f"{said['plots']} plots in three views, and a page of every kind")
    finally:
        shutil.rmtree(root, ignore_errors=True)


main()
