#include "heed/constrain/schema/uri.h"

#include <algorithm>
#include <charconv>

namespace heed::constrain {
namespace {

struct Uri {
  // Each with its delimiter, so that "" means that the part is absent.
  std::string scheme, authority, path, query, fragment;
};

Uri split_uri(std::string_view text) {
  Uri uri;
  const auto take = [&text](size_t length) {
    const std::string_view part = text.substr(0, length);
    text.remove_prefix(part.size());
    return std::string(part);
  };
  const size_t colon = text.find_first_of(":/?#");
  if (colon != std::string_view::npos && colon > 0 && text[colon] == ':') {
    uri.scheme = take(colon + 1);
  }
  if (text.starts_with("//")) uri.authority = take(text.find_first_of("/?#", 2));
  uri.path = take(text.find_first_of("?#"));
  uri.query = take(text.find('#'));
  uri.fragment = std::string(text);
  return uri;
}

/// Section 5.2.4.
std::string remove_dot_segments(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      path = path == "/.." ? "/" : path.substr(3);
      result.resize(result.find_last_of('/') == std::string::npos ? 0 : result.find_last_of('/'));
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const size_t length = std::min(path.find('/', 1), path.size());
      result += path.substr(0, length);
      path.remove_prefix(length);
    }
  }
  return result;
}

std::string merge_paths(const Uri& base, const std::string& path) {
  if (!base.authority.empty() && base.path.empty()) return "/" + path;
  return base.path.substr(0, base.path.find_last_of('/') + 1) + path;
}

}  // namespace

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  const Uri base = split_uri(base_text);
  Uri uri = split_uri(reference);
  if (uri.scheme.empty()) {
    uri.scheme = base.scheme;
    if (uri.authority.empty()) {
      uri.authority = base.authority;
      if (uri.path.empty()) {
        uri.path = base.path;
        if (uri.query.empty()) uri.query = base.query;
      } else if (uri.path[0] != '/') {
        uri.path = merge_paths(base, uri.path);
      }
    }
  }
  if (!uri.authority.empty() || uri.path.starts_with("/")) uri.path = remove_dot_segments(uri.path);
  return uri.scheme + uri.authority + uri.path + uri.query + uri.fragment;
}

std::string decode_percent(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace heed::constrain
