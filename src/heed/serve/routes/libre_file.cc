// LibreTranslate's translation of files: the answer names the address of the result.
#include <fmt/format.h>

#include <algorithm>

#include "heed/serve/api_error.h"
#include "heed/serve/routes/libre_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

constexpr std::string_view kDownloads = "/download_file/";
constexpr size_t kMaxNameBytes = 100;

/// A name that may stand in an address and in a header: other characters become "_".
std::string plain_name(std::string_view name) {
  name.remove_prefix(name.size() - std::min(name.size(), kMaxNameBytes));
  std::string plain(name);
  for (char& c : plain)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
          c == '-'))
      c = '_';
  return plain;
}

/// "letter.txt" and "de": "letter_de.txt", as LibreTranslate names it.
std::string translated_name(const std::string& name, std::string_view language) {
  const size_t dot = std::min(name.rfind('.'), name.size());
  return plain_name(fmt::format("{}_{}{}", name.substr(0, dot), language, name.substr(dot)));
}

/// As a client has addressed this server, perhaps through a proxy; empty if it did not say.
std::string base_address(const HttpRequest& request) {
  const std::string_view host = request.header("host");
  if (host.empty()) return {};
  const bool encrypted = request.header("x-forwarded-proto") == "https";
  return fmt::format("{}://{}", encrypted ? "https" : "http", host);
}

}  // namespace

void post_libre_translate_file(const ModelCall& call) {
  JsonFields fields = call.fields();
  const LibreTexts texts = read_libre_file(fields);
  const std::string name =
      translated_name(texts.file_name, fields.text("target").value_or("translated"));
  const auto respond = [&files = call.services.translated_files, name](
                           Call& answered, const LibreTranslation& translation,
                           const std::vector<TranslatedText>& translated) {
    const std::string key = files.add(name, translation.documents.translation(0, translated),
                                      TranslatedFiles::Clock::now());
    Json answer = {{"translatedFileUrl",
                    fmt::format("{}{}{}", base_address(answered.request()), kDownloads, key)}};
    if (!translation.path.is_direct()) answer["via"] = translation.path.via;
    if (!translation.detected.is_null()) answer["detectedLanguage"] = translation.detected;
    answered.respond_json(answer);
  };
  translate_libre(call, fields, texts, 0, respond);
}

/// Whoever has the address may fetch it: a browser that follows it sends no key.
void get_libre_download(Services& services, Call& call) {
  const std::string key = name_in_path(call);
  const auto content = services.translated_files.find(key, TranslatedFiles::Clock::now());
  if (!content)
    throw ApiError(
        404, "invalid_request_error",
        "there is no such file: translated files are kept for an hour, the latest first");
  call.respond({.content_type = "application/octet-stream",
                .body = *content,
                .headers = {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"",
                                                                key.substr(key.find('.') + 1))},
                            {"X-Content-Type-Options", "nosniff"}}});
}

}  // namespace heed::serve
