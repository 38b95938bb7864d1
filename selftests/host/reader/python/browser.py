# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium, told what to do by its DevTools protocol.

The protocol goes through a pair of pipes, so nothing listens anywhere.
"""
import base64
import json
import os
import select
import subprocess
import time

PATIENCE = 120		# seconds that a slow machine gets for one step


class Browser:
    """One page; what it does wrong or fetches is collected."""

    def __init__(self, program, profile, size=(1200, 900)):
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        def pipes():
            # the numbers that Chromium expects; these may be among them
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            while min(a, b) < 5:
                a, b = os.dup(a), os.dup(b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update",
             "--disable-extensions", "--remote-debugging-pipe",
             "--user-data-dir=" + profile, "--hide-scrollbars",
             "--window-size=%d,%d" % size, "about:blank"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer = b""
        self._next = 0
        self._session = None
        self.errors = []
        self.requests = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = [t for t in targets if t["type"] == "page"][0]
        self._session = self.call("Target.attachToTarget", flatten=True,
                                  targetId=page["targetId"])["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")

    def _read(self):
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(line)

    def _notice(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = p["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get(
                "description", details["text"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.errors.append(p["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("dialog: " + p["message"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def call(self, method, **params):
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self._notice(answer)

    def run(self, script):
        """The value of an expression in the page."""
        r = self.call("Runtime.evaluate", expression=script,
                      returnByValue=True)
        if "exceptionDetails" in r:
            raise RuntimeError("%s: %s" % (script, r["exceptionDetails"].get(
                "exception", {}).get("description", r)))
        return r["result"].get("value")

    def open(self, url):
        # the same file with another hash would not be loaded again
        self.call("Page.navigate", url="about:blank")
        self._wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=url)
        self._wait("location.href !== 'about:blank' && "
                   "document.readyState === 'complete'")

    def _wait(self, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.run(condition):
                    return
            except RuntimeError:
                pass	# one page goes, the other comes
            time.sleep(.05)
        raise TimeoutError(condition)

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y,
                  button="left", buttons=0 if kind == "Released" else 1,
                  clickCount=1)

    def drag(self, begin, end):
        self.mouse("Pressed", *begin)
        self.mouse("Moved", *end)
        self.mouse("Released", *end)

    def click(self, x, y):
        self.drag((x, y), (x, y))

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key):
        code = {"Escape": 27, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38,
                "ArrowRight": 39, "ArrowLeft": 37}.get(key, 0)
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text,
                  windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key,
                  windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError):
            pass
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
