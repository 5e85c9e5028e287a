#!/usr/bin/env python3
"""Makes the pictures of the README and the documentation out of one real run: the example shop is installed into the cluster of
KUBECONFIG, which has sluice and the image of the example (`make pictures` sees to both).

`docs/pictures/ui.png`: the page while the shop starts. `ui-dark.png`: once all is ready, in dark colours. `status.svg`: a recording of
`kubectl sluice status --watch`. Ends with 1 where axe-core finds a fault in the page, or a picture is too large."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from browser import Browser
from terminal import record, svg

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "docs/pictures"
NAMESPACE, RELEASE = "shop", "shop"
AXE = "axe-core@4.14.1"
MOST = 200 * 1024
SIZE = (1280, 700)


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def axe_core():
    """The program of axe-core, from npm, which is no part of this project."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, capture_output=True)
        archive = next(pathlib.Path(folder).glob("*.tgz"))
        return run("tar", "-xzOf", str(archive), "package/axe.min.js")


def findings(tab, axe):
    tab.value(axe + ";0")
    found = tab.value("axe.run({resultTypes: ['violations']}).then(it => JSON.stringify(it.violations.map(it => [it.id, it.impact, it.nodes.map(it => it.html.slice(0, 160))])))")
    return json.loads(found)


def clean_up():
    run("helm", "uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--ignore-not-found")
    run("kubectl", "wait", "pods", "--all", "--namespace", NAMESPACE, "--for=delete", "--timeout=120s", check=False)


def install():
    run("helm", "install", RELEASE, str(ROOT / "examples/shop/chart"), "--namespace", NAMESPACE)
    selector = "sluice.dev/gated=true"
    while not run("kubectl", "get", "pods", "--namespace", NAMESPACE, "--selector", selector, "--output", "name"):
        pass


def main():
    run("kubectl", "create", "namespace", NAMESPACE, check=False)
    clean_up()
    axe, made, wrong = axe_core(), {}, []
    serving = subprocess.Popen(["kubectl-sluice", "ui", "--no-browser", "--namespace", NAMESPACE], stdout=subprocess.PIPE, text=True)
    command = ["kubectl-sluice", "status", "--release", RELEASE, "--namespace", NAMESPACE, "--watch"]
    recording = []
    recorder = threading.Thread(target=lambda: recording.extend(record(command)))
    try:
        address = serving.stdout.readline().strip()
        with Browser() as tab:
            tab.open(address, *SIZE, "light")
            install()
            recorder.start()
            tab.until("document.querySelectorAll('.box.waiting').length > 1 && document.querySelectorAll('.box.ready').length > 1")
            made["ui.png"] = tab.picture()
            wrong += findings(tab, axe)
            tab.until("document.querySelector('.details h2')?.innerText === 'Everything is ready'")
            tab.prefers("dark")
            tab.value("new Promise(it => setTimeout(it, 500))")
            made["ui-dark.png"] = tab.picture()
            wrong += findings(tab, axe)
        recorder.join()
    finally:
        serving.terminate()
        serving.wait()
        clean_up()
    shown = re.sub(r"^kubectl-sluice", "kubectl sluice", " ".join(command))
    made["status.svg"] = svg(shown, recording).encode()
    OUT.mkdir(exist_ok=True)
    for name, content in made.items():
        (OUT / name).write_bytes(content)
        print(f"docs/pictures/{name}: {len(content) // 1024} KiB")
        if len(content) > MOST:
            wrong.append(f"docs/pictures/{name} has more than {MOST // 1024} KiB")
    for fault in wrong:
        print(f"make.py: {fault}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
