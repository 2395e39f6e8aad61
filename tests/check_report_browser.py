"""The report in a real browser: no console errors, every plot present and of non-zero size, nothing
from the network, in light, dark and on a phone."""
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
  const answer = document.createElement('pre');
  answer.id = 'probe';
  answer.textContent = JSON.stringify({sizes, width: document.documentElement.scrollWidth, window: innerWidth,
    paper: getComputedStyle(document.body).backgroundColor, ids: [...document.querySelectorAll('[id]')].map(e => e.id)});
  document.body.append(answer);
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
        check(not re.search(r'(src|href)="?https?:', text), "the page loads from the network")
        probed = root / "probed.html"
        probed.write_text(text.replace("</body>", PROBE + "</body>"))
        papers = []
        for name, width, scheme in (("desktop", 1200, 1), ("dark", 1200, 0), ("phone", 390, 1)):
            result = browse(root, probed, name, "--dump-dom", f"--window-size={width},900",
                            f"--blink-settings=preferredColorScheme={scheme}")
            check("CONSOLE" not in result.stderr, f"{name}: {result.stderr[-800:]}")
            answer = re.search(r'<pre id="probe">(.*?)</pre>', result.stdout, re.S)
            check(answer, f"{name}: the page did not answer")
            seen = json.loads(answer.group(1))
            check(len(seen["sizes"]) == said["plots"] > 0, f"{name}: {len(seen['sizes'])} plots of {said['plots']}")
            for w, h, shapes, words in seen["sizes"]:
                check(w > 200 and h > 100 and shapes > 5, f"{name}: a plot of {w} x {h} with {shapes} shapes")
                check(w <= seen["window"], f"{name}: a plot of {w} pixels in a window of {seen['window']}")
                check(len(words) > 10, f"{name}: a plot without words")
            check(seen["width"] <= seen["window"] + 1, f"{name}: wider than the window: {seen['width']}")
            ids = seen["ids"]
            check(len(set(ids)) == len(ids), f"{name}: names are used twice")
            papers.append(seen["paper"])
        check(papers[0] != papers[1], "dark mode looks like light mode")
        picture = root / "page.png"
        browse(root, page, "picture", f"--screenshot={picture}", "--window-size=1000,1400")
        check(picture.exists() and picture.stat().st_size > 20000, "no screenshot")
        print(f"{said['plots']} plots in three views")
    finally:
        shutil.rmtree(root, ignore_errors=True)


main()
