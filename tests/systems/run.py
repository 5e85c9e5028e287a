#!/usr/bin/env python3
"""run.py PROGRAM   runs kubectl-sluice as a user of this system does: commands that read files, and `ui` beside an API server of one
empty namespace. Python alone, because macOS and Windows run it in CI; `test_run.py` runs it on Linux.
"""
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Empty(http.server.BaseHTTPRequestHandler):
    """An API server of the core group, where every list is empty."""

    protocol_version = "HTTP/1.1"
    RESOURCES = [("pods", "Pod"), ("services", "Service"), ("configmaps", "ConfigMap")]

    def do_GET(self):
        path = self.path.split("?")[0]
        listed = [
            {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": ["get", "list", "watch"]}
            for name, kind in self.RESOURCES
        ]
        answers = {
            "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0", "platform": ""},
            "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": listed},
        }
        for name, kind in self.RESOURCES:
            empty = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}
            answers |= {f"/api/v1/{name}": empty, f"/api/v1/namespaces/shop/{name}": empty}
        answers["/api/v1/namespaces/shop"] = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}
        code = 200 if path in answers else 404
        missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "message": "not here", "code": 404}
        body = json.dumps(answers.get(path, missing)).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Plugin:
    """The program."""

    def __init__(self, command):
        self.command = command

    def ran(self, *arguments, code, says):
        """Runs it in the root of the checkout, and looks at the exit code and for each of the words."""
        ran = subprocess.run([*self.command, *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=120)
        said = ran.stdout + ran.stderr
        missing = [word for word in says if word not in said]
        assert ran.returncode == code and not missing, f"{arguments}: exit code {ran.returncode}, and no {missing} in:\n{said}"
        print(f"ok: {' '.join(arguments)}")

    def serves(self, kubeconfig):
        """Starts `ui`, and asks for its page and for what the page asks for."""
        arguments = ["ui", "--kubeconfig", kubeconfig, "--namespace", "shop", "--no-browser"]
        started = subprocess.Popen([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
        # A program that says nothing ends the test, too.
        late = threading.Timer(120, started.kill)
        late.start()
        try:
            said = ""
            while not (found := re.search(r"http://127\.0\.0\.1:\d+/\w+", said)):
                line = started.stdout.readline()
                assert line, f"ui ended: {said}"
                said += line
            with urllib.request.urlopen(f"{found[0]}/", timeout=60) as page:
                assert b"<!doctype html>" in page.read().lower()[:200]
            with urllib.request.urlopen(f"{found[0]}/api/graph", timeout=60) as graph:
                assert json.load(graph)["namespace"] == "shop"
        finally:
            late.cancel()
            started.kill()
            started.communicate()
        print("ok: ui")


def main(*command):
    plugin = Plugin(command)
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    plugin.ran("version", "--client", code=0, says=[os.environ.get("SLUICE_VERSION") or version])
    plugin.ran("lint", "-f", "examples/order.yaml", code=0, says=["0 errors"])
    plugin.ran("lint", "-f", "examples/mistakes.yaml", code=1, says=["mistakes.yaml:", "error: "])
    plugin.ran("status", "-f", "examples/judged/objects.yaml", code=3, says=["JobNotComplete", "Serving endpoints: 1/1"])
    plugin.ran("graph", "-f", "examples/order.yaml", code=0, says=["STEP", "WAITS FOR"])
    plugin.ran("completion", "powershell", code=0, says=["Register-ArgumentCompleter"])
    plugin.ran("status", "--kubeconfig", "nowhere", "--namespace", "shop", code=1, says=["nowhere"])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "a", "users": [{"name": "a", "user": {}}],
        "clusters": [{"name": "a", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a", "namespace": "shop"}}],
    }
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "config"
        kubeconfig.write_text(json.dumps(config))
        plugin.ran("status", "--kubeconfig", str(kubeconfig), code=0, says=[])
        plugin.serves(str(kubeconfig))
    server.shutdown()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
