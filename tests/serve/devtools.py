"""Drives a headless Chromium through its DevTools protocol, over two pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import urllib.parse

PATIENCE = 30  # seconds that anything may take
# A mouse, also on a machine without one: Blink's enumerators for "hover" and "fine".
POINTER = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


class Browser:
    """One page of a browser of its own."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="heed-page-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        arguments = [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", POINTER, "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"]
        # The browser reads commands from descriptor 3 and writes to 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "chromium", *arguments]
        self.process = subprocess.Popen(shell, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.problems = []  # uncaught exceptions, violations of the policy, errors of the console
        self.requests = []  # addresses
        # Answers instead of the server's, by path: a list of (status, headers, body), which are given one after the
        # other, or a function that returns one for the body of a request, or None to ask the server.
        self.scripted = {}
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Fetch"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise ConnectionError("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **parameters):
        number = self.send(method, parameters)
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded":
            entry = parameters["entry"]
            if entry["source"] != "network" and entry["level"] == "error":
                self.problems.append(entry["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event.get("method") == "Fetch.requestPaused":
            request = parameters["request"]
            path = urllib.parse.urlsplit(request["url"]).path
            self.answer(parameters["requestId"], path, request.get("postData", ""))

    def answer(self, request, path, posted):
        script = self.scripted.get(path)
        answer = script(posted) if callable(script) else script.pop(0) if script else None
        if answer is None:
            self.send("Fetch.continueRequest", {"requestId": request})
            return
        status, headers, body = answer
        self.send("Fetch.fulfillRequest", {
            "requestId": request, "responseCode": status, "body": base64.b64encode(body.encode()).decode(),
            "responseHeaders": [{"name": name, "value": value} for name, value in headers.items()]})

    # ---- the page ----

    def resize(self, width, height):
        """Narrow ones are phones, without a mouse."""
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Waits until an expression, which may await, is true."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"(async () => Boolean({expression}))()"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}\n{self.evaluate('document.body.innerText')}")
            time.sleep(0.05)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        """Clicks with the mouse in the middle of an element, which must be in sight."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector):
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def middle(self, selector):
        return self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{ block: "nearest" }});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, name, modifiers=0):
        """modifiers: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift, or a sum of them."""
        code = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                "ArrowDown": 40, "z": 90}[name]
        text = {"text": "\r"} if name == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code,
                  modifiers=modifiers, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code,
                  modifiers=modifiers)

    def choose_files(self, selector, *paths):
        """In an <input type=file>."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def save_downloads(self, directory):
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(directory))

    def screenshot(self, path, whole=True):
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, TimeoutError):
            self.process.kill()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.profile, ignore_errors=True)
