#include "heed/serve/http/multipart.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/base/quote.h"
#include "heed/error.h"

namespace heed::serve {
namespace {

constexpr size_t kMaxBoundary = 70;  // RFC 2046
constexpr std::string_view kLineEnd = "\r\n";

[[noreturn]] void refuse_form(std::string_view why) {
  throw InputError(fmt::format("the body is not a multipart form: {}", why));
}

/// Takes the value of a parameter from the front of `text`: a token, or a text in quotes.
std::string take_value(std::string_view& text) {
  std::string value;
  if (!text.starts_with('"')) {
    const size_t end = std::min(text.find(';'), text.size());
    value = trimmed(text.substr(0, end));
    text.remove_prefix(end);
    return value;
  }
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    // Browsers do not escape a backslash, which is one only before a quote.
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') ++i;
    value += text[i];
  }
  refuse_form("a quotation mark is not closed");
}

/// The value of a parameter of a header: "b" of `a; name="b"`.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  header.remove_prefix(std::min(header.find(';'), header.size()));
  while (header.starts_with(';')) {
    header.remove_prefix(1);
    const size_t equals = header.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view found = trimmed(header.substr(0, equals));
    header = header.substr(equals + 1);
    header.remove_prefix(std::min(header.find_first_not_of(" \t"), header.size()));
    std::string value = take_value(header);
    if (lower_case(found) == name) return value;
    header.remove_prefix(std::min(header.find(';'), header.size()));
  }
  return std::nullopt;
}

/// The Content-Disposition among the headers of a part.
std::string_view disposition_of(std::string_view headers) {
  while (!headers.empty()) {
    const size_t end = std::min(headers.find(kLineEnd), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + kLineEnd.size(), headers.size()));
    const size_t colon = std::min(line.find(':'), line.size());
    if (lower_case(trimmed(line.substr(0, colon))) == "content-disposition")
      return line.substr(std::min(colon + 1, line.size()));
  }
  refuse_form("a part has no Content-Disposition");
}

FormPart read_part(std::string_view part) {
  const size_t end = part.find("\r\n\r\n");
  if (end == std::string_view::npos) refuse_form("the headers of a part do not end");
  const std::string_view disposition = disposition_of(part.substr(0, end));
  std::optional<std::string> name = parameter(disposition, "name");
  if (!name) refuse_form("a part has no name");
  return {.name = std::move(*name),
          .filename = parameter(disposition, "filename"),
          .content = part.substr(end + 2 * kLineEnd.size())};
}

}  // namespace

std::vector<FormPart> multipart_form(std::string_view content_type, std::string_view body) {
  const std::string boundary = parameter(content_type, "boundary").value_or("");
  if (boundary.empty() || boundary.size() > kMaxBoundary)
    refuse_form("Content-Type has no boundary of 1 to 70 bytes");
  const std::string first = "--" + boundary, next = "\r\n--" + boundary;
  size_t at = 0;  // behind a boundary
  if (body.starts_with(first))
    at = first.size();
  else if (const size_t found = body.find(next); found != std::string_view::npos)
    at = found + next.size();  // behind a preamble
  else
    refuse_form("its boundary does not occur");
  std::vector<FormPart> parts;
  while (!body.substr(at).starts_with("--")) {
    const size_t line_end = body.find(kLineEnd, at);
    const size_t end = line_end == std::string_view::npos ? line_end : body.find(next, line_end);
    if (end == std::string_view::npos) refuse_form("it has no last boundary");
    if (parts.size() == kMaxFormFields)
      refuse_form(fmt::format("it has over {} fields", kMaxFormFields));
    const size_t begin = line_end + kLineEnd.size();
    parts.push_back(read_part(body.substr(std::min(begin, end), end - std::min(begin, end))));
    at = end + next.size();
  }
  return parts;
}

}  // namespace heed::serve
