# /// script
# dependencies = ["libretranslatepy"]
# ///
from libretranslatepy import LibreTranslateAPI
from scenarios import URL, run

client = LibreTranslateAPI(URL)


def translate():
    assert client.translate("the sea", "en", "fr")


def languages():
    assert client.languages() == [{"code": "en", "name": "English", "targets": ["fr"]}]


def detect():
    assert client.detect("the sea")[0]["language"] == "en"


run(translate, languages, detect)
