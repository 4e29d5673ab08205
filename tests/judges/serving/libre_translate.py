#!/usr/bin/env python3
"""LibreTranslate's own API tests against heed serve.

    python3 -m venv venv && venv/bin/pip install pytest
    venv/bin/python tests/judges/serving/libre_translate.py HEED TRANSLATION_MODEL [FOLDER]

The tests are fetched into FOLDER (by default a temporary one). They translate from English to Spanish, so the model, of
one pair of languages (tests/golden/translation/opus-mt does), is served as if it did.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

PACKAGE = "libretranslate==1.9.6"
SKIPPED = {
    "test_api_detect_language.py": "heed does not detect languages",
    "test_api_frontend_settings.py": "the settings of LibreTranslate's page; heed has a page of its own",
    "test_api_spec.py": "heed's description is /openapi.json",
}


def fetch_tests(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE],
                   check=True)
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    [package] = folder.glob("libretranslate-*.whl")
    with zipfile.ZipFile(package) as files:
        for name in files.namelist():
            path = pathlib.PurePath(name)
            # Not the conftest.py, which would start LibreTranslate.
            if path.parent.name == "test_api" and path.name.startswith("test_"):
                (tests / path.name).write_bytes(files.read(name))
    return tests


class Response:
    """What the tests read of Flask's responses."""

    def __init__(self, answer):
        self.status_code = answer.status
        self.data = answer.read()

    @property
    def json(self):
        return json.loads(self.data)


class Client:
    """What the tests call of Flask's test client."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def send(self, method, path, body=None, headers=None):
        request = urllib.request.Request(self.url + path, body, headers or {}, method=method)
        try:
            return Response(urllib.request.urlopen(request, timeout=60))
        except urllib.error.HTTPError as error:
            return Response(error)

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, data=None, json=None):
        if json is not None:
            return self.send("POST", path, dump(json), {"Content-Type": "application/json"})
        return self.send("POST", path, urllib.parse.urlencode(data or {}).encode(),
                         {"Content-Type": "application/x-www-form-urlencoded"})


def dump(value):
    return json.dumps(value).encode()


class Plugin:
    def __init__(self, port):
        self.port = port

    @pytest.fixture
    def client(self):
        return Client(self.port)

    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.path.name in SKIPPED:
                item.add_marker(pytest.mark.skip(SKIPPED[item.path.name]))


def main():
    heed, model, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(*rest or [temporary]).resolve()
        folder.mkdir(exist_ok=True)
        tests = fetch_tests(folder)
        table = {"path": str(pathlib.Path(model).resolve()), "source_language": "en", "target_language": "es"}
        with Server(heed, {"en-es": table}, 2) as server:
            status = pytest.main(["--noconftest", "-p", "no:cacheprovider", f"--rootdir={tests}", "-v", "--tb=short",
                                  "-rs", str(tests)], plugins=[Plugin(server.port)])
    raise SystemExit(status)


if __name__ == "__main__":
    main()
