// LibreTranslate's API beside what model_routes_test.cc asks of it.
#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

Json libre(const Json& more) {
  Json request = {{"q", "sea"}, {"source", "en"}, {"target", "de"}};
  request.update(more);
  return posted("/translate", request);
}

std::string translated(const std::string& text) {
  return RunningServer::shared().model("en-de").translate(text).candidates.front().text;
}

/// As markup has it.
std::string in_html(std::string text) {
  for (size_t at = 0; (at = text.find('&', at)) != text.npos; ++at) text.replace(at, 1, "&amp;");
  for (size_t at = 0; (at = text.find('<', at)) != text.npos; ++at) text.replace(at, 1, "&lt;");
  for (size_t at = 0; (at = text.find('>', at)) != text.npos; ++at) text.replace(at, 1, "&gt;");
  return text;
}

/// What Mastodon sends: a list of HTML, from "auto". Tags and what is not translated do not count
/// for the language.
TEST(LibreTranslate, HtmlKeepsItsMarkup) {
  const std::string sea = in_html(translated("the sea")),
                    ship = in_html(translated("the sea a ship"));
  const Json found = libre({{"format", "html"},
                            {"source", "auto"},
                            {"q",
                             {"<p>the sea <a href=\"x?a&b\">a ship</a></p>",
                              "<span translate=\"no\">@user</span>", "the sea"}}});
  EXPECT_EQ(found["translatedText"][1], "<span translate=\"no\">@user</span>");
  EXPECT_EQ(found["translatedText"][2], sea);
  // A sentence is translated as one; the link goes where its words went.
  std::string linked = found["translatedText"][0];
  for (const std::string tag : {"<p>", "<a href=\"x?a&b\">", "</a>", "</p>"}) {
    const size_t at = linked.find(tag);
    ASSERT_NE(at, linked.npos) << linked;
    linked.erase(at, tag.size());
  }
  EXPECT_EQ(linked, ship);
  ASSERT_EQ(found["detectedLanguage"].size(), 3u);
  EXPECT_EQ(found["detectedLanguage"][0]["language"], "en");
  EXPECT_GT(found["detectedLanguage"][0]["confidence"], 50);
  EXPECT_FALSE(libre(Json::object()).contains("detectedLanguage"));
  const Json alternatives = libre({{"format", "html"}, {"q", "<b>sea</b>"}, {"alternatives", 2}});
  ASSERT_EQ(alternatives["alternatives"].size(), 2u);
  for (const Json& text : alternatives["alternatives"]) {
    EXPECT_TRUE(text.get<std::string>().starts_with("<b>")) << text;
    EXPECT_TRUE(text.get<std::string>().ends_with("</b>")) << text;
  }
}

TEST(LibreTranslate, LanguagesHaveNames) {
  bool found = false;
  for (const Json& language : get("/languages").json())
    if (language["code"] == "en") {
      found = true;
      EXPECT_EQ(language["name"], "English");
    }
  EXPECT_TRUE(found);
  const Json settings = get("/frontend/settings").json();
  EXPECT_EQ(settings["keyRequired"], false);
  EXPECT_TRUE(settings["language"]["source"]["name"].is_string());
}

TEST(LibreTranslate, DetectsLanguages) {
  const Json german = post("/detect", Json{{"q", "Wo ist das alte Haus am Meer?"}}).json();
  EXPECT_EQ(german[0]["language"], "de");
  EXPECT_GT(german[0]["confidence"], 50);
  const Answer none = post("/detect", Json{{"q", "42"}});
  EXPECT_EQ(none.status, 400);
  EXPECT_NE(none.json()["error"].get<std::string>().find("cannot be told"), std::string::npos);
  EXPECT_EQ(post("/detect", Json::object()).status, 400);
  const Answer other = post("/detect", Json{{"q", "the old sea"}, {"colour", 1}});
  EXPECT_EQ(other.status, 200) << other.body;  // as elsewhere
  EXPECT_EQ(other.headers.at("x-heed-ignored"), "colour");
}

std::string refusal(const std::string& path, const Json& request) {
  const Answer answer = post(path, request);
  EXPECT_EQ(answer.status, 400) << answer.body;
  const Json error = answer.json()["error"];
  return error.is_string() ? error.get<std::string>() : error["message"].get<std::string>();
}

/// A form as a browser sends it.
Answer send_form(const std::string& path, const std::string& parts) {
  return HttpClient(RunningServer::shared().port())
      .request("POST", path, parts + "--XX--\r\n",
               {{"Content-Type", "multipart/form-data; boundary=XX"}});
}

std::string form_field(const std::string& name, const std::string& value) {
  return "--XX\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}

std::string form_file(const std::string& name, const std::string& content) {
  return form_field("file\"; filename=\"" + name, content);
}

TEST(LibreTranslate, FilesAreTranslatedAndFetched) {
  const std::string languages = form_field("source", "en") + form_field("target", "de");
  const Answer sent =
      send_form("/translate_file", form_file("../My letter.HTML", "<p>the sea</p>\n") + languages);
  ASSERT_EQ(sent.status, 200) << sent.body;
  const auto url = sent.json()["translatedFileUrl"].get<std::string>();
  const std::string base = "http://localhost/download_file/";
  ASSERT_TRUE(url.starts_with(base)) << url;
  const Answer fetched = get(url.substr(std::string("http://localhost").size()));
  EXPECT_EQ(fetched.status, 200);
  EXPECT_EQ(fetched.headers.at("content-type"), "application/octet-stream");
  EXPECT_EQ(fetched.headers.at("content-disposition"),
            "attachment; filename=\".._My_letter_de.HTML\"");
  EXPECT_EQ(fetched.body, "<p>" + in_html(translated("the sea")) + "</p>\n");
  const Answer none = get("/download_file/guess.txt");
  EXPECT_EQ(none.status, 404);
  EXPECT_TRUE(none.json()["error"].is_string());
  const auto error = [&](const std::string& parts) {
    const Answer answer = send_form("/translate_file", parts);
    EXPECT_EQ(answer.status, 400) << answer.body;
    return answer.json()["error"].get<std::string>();
  };
  EXPECT_NE(error(languages).find("missing file"), std::string::npos);
  EXPECT_NE(error(form_file("a.pdf", "x") + languages).find("\"a.pdf\" is not supported"),
            std::string::npos);
  EXPECT_NE(error(form_field("file", "x") + languages).find("not a file"), std::string::npos);
  EXPECT_NE(error(form_file("a.txt", "x\xff") + languages).find("UTF-8"), std::string::npos);
  EXPECT_NE(error(form_file("a.txt", "the sea")).find("missing source"), std::string::npos);
}

TEST(LibreTranslate, TextsOfFormsAreTranslated) {
  const Answer found =
      send_form("/translate", form_field("q", "the sea") + form_field("source", "en") +
                                  form_field("target", "de"));
  EXPECT_EQ(found.json()["translatedText"], translated("the sea"));
  const Answer list =
      send_form("/translate", form_field("q", "the sea") + form_field("q", "sea") +
                                  form_field("source", "en") + form_field("target", "de"));
  EXPECT_EQ(list.json()["translatedText"], Json::array({translated("the sea"), translated("sea")}));
  EXPECT_EQ(send_form("/translate", "").status, 400);
}

TEST(LibreTranslate, AutoIsTheLanguageOfTheText) {
  // nllb translates from French into German, en-de does not.
  const std::string text = "la vieille maison du roi et de la reine";
  const Json found = libre({{"q", text}, {"source", "auto"}});
  EXPECT_EQ(found["detectedLanguage"]["language"], "fr");
  EXPECT_EQ(found["translatedText"], libre({{"q", text}, {"source", "fr"}})["translatedText"]);
  EXPECT_EQ(libre({{"q", "42"}, {"source", "auto"}})["detectedLanguage"]["confidence"], 0);
  const Json french = {{"q", text}, {"source", "auto"}, {"target", "de"}, {"model", "en-de"}};
  EXPECT_NE(refusal("/translate", french).find("seems to be in fr"), std::string::npos);
  EXPECT_NE(refusal("/translate", french).find("expected a language of en"), std::string::npos);
}

TEST(Translate, AutoIsTheLanguageOfTheText) {
  Json request = {{"model", "nllb"},
                  {"text", "la vieille maison du roi et de la reine"},
                  {"source_language", "auto"},
                  {"target_language", "deu_Latn"}};
  const Json found = posted("/v1/translate", request);
  EXPECT_EQ(found["detected_language"]["language"], "fr");
  EXPECT_GT(found["detected_language"]["probability"], 0.5);
  request["source_language"] = "fra_Latn";
  const Json french = posted("/v1/translate", request);
  EXPECT_EQ(found["translations"], french["translations"]);
  EXPECT_FALSE(french.contains("detected_language"));
  request["source_language"] = "auto";
  request["text"] = "བོད་སྐད་";
  EXPECT_NE(refusal("/v1/translate", request).find("cannot be told"), std::string::npos);
}

TEST(LibreTranslate, TheKeyMayStandInTheBodyOfATranslation) {
  const RunningServer& shared = RunningServer::shared();
  ServerOptions options{.port = 0};
  options.models.push_back({.name = "en-de",
                            .path = shared.path_of("en-de"),
                            .source_language = "en",
                            .target_language = "de"});
  options.api_keys = {"secret"};
  Server one(options);
  one.listen();
  one.load();
  const Answer detected =
      HttpClient(one.port())
          .request("POST", "/detect", R"({"q": "the sea"})", {{"Authorization", "Bearer secret"}});
  EXPECT_EQ(detected.json()[0]["language"], "en");
  Json request = {{"q", "sea"}, {"source", "en"}, {"target", "de"}, {"api_key", "secret"}};
  const auto status = [&](const std::string& path) {
    return HttpClient(one.port()).request("POST", path, request.dump()).status;
  };
  EXPECT_EQ(status("/translate"), 200);
  EXPECT_EQ(status("/v1/translate"), 401);
  request["api_key"] = "guess";
  EXPECT_EQ(status("/translate"), 401);
  request.erase("api_key");
  EXPECT_EQ(status("/translate"), 401);
  EXPECT_EQ(HttpClient(one.port()).request("GET", "/languages").status, 200);
  EXPECT_EQ(HttpClient(one.port()).request("GET", "/frontend/settings").json()["apiKeys"], true);
}

}  // namespace
}  // namespace heed::serve
