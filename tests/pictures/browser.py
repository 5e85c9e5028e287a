"""A headless Chromium, driven over two pipes by its DevTools protocol: JSON values with a zero byte after each."""

import base64
import json
import shutil
import subprocess
import tempfile
import time

START = (
    "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars "
    '--remote-debugging-pipe --user-data-dir="$1" 3<&0 4>&1 >/dev/null 2>/dev/null'
)


class Browser:
    """One tab. `with Browser() as tab:` ends it."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(["sh", "-c", START, "sh", self.profile], stdin=pipe, stdout=pipe)
        self.number, self.session = 0, None
        tab = self.ask("Target.createTarget", url="about:blank")
        attached = self.ask("Target.attachToTarget", targetId=tab["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, **params):
        self.number += 1
        question = {"id": self.number, "method": method, "params": params}
        if self.session:
            question["sessionId"] = self.session
        self.process.stdin.write(json.dumps(question).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _read(self):
        text = bytearray()
        while (letter := self.process.stdout.read(1)) != b"\0":
            if not letter:
                raise RuntimeError("Chromium has ended")
            text += letter
        return text

    def open(self, address, width, height, scheme):
        """Shows an address in a window of this size, in `light` or `dark`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.prefers(scheme)
        # The page's policy would refuse axe-core.
        self.ask("Page.setBypassCSP", enabled=True)
        self.ask("Page.navigate", url=address)

    def prefers(self, scheme):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", features=[feature])

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression, seconds=180):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"never: {expression}")
            time.sleep(0.1)

    def picture(self):
        """The window as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
