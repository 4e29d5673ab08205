#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

/// The most fields of a form.
inline constexpr size_t kMaxFormFields = 4096;

/// A field of a form.
struct FormPart {
  std::string name;
  std::optional<std::string> filename;  // of a file, as the client calls it
  std::string_view content;             // a part of the body
};

/// The fields of a body of the type multipart/form-data (RFC 7578). `content_type` is the header
/// with that type, which names the boundary. Throws InputError on anything else.
std::vector<FormPart> multipart_form(std::string_view content_type, std::string_view body);

}  // namespace heed::serve
