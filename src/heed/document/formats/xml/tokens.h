#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::document {

/// A part of an XML document (https://www.w3.org/TR/xml/). `other` is a comment, an instruction,
/// the declaration or the document type.
struct XmlToken {
  enum class Kind { text, start, end, empty, cdata, other };

  Kind kind = Kind::text;
  std::string_view raw;
  std::string_view name = {};  // of a tag
};

/// The tokens of a document, which together are its bytes but for a byte order mark, in linear
/// time. Throws InputError with the line unless it is well-formed: one root element, tags that
/// match, attributes in quotes, references to characters that exist. References to entities are not
/// expanded, wherever they are declared.
std::vector<XmlToken> xml_tokens(std::string_view xml);

/// The value of an attribute, as it is written; none, if there is none.
std::optional<std::string_view> xml_attribute(const XmlToken& tag, std::string_view name);

/// The name without its prefix: "target" of "xlf:target".
std::string_view local_name(std::string_view name);

/// A reference at the beginning of `xml`, which begins with "&".
struct XmlReference {
  size_t size = 0;                    // 0: there is none
  std::optional<char32_t> character;  // none: an entity of the document's own
};
XmlReference read_xml_reference(std::string_view xml);

/// Text with references for &, < and >, without what XML cannot hold.
std::string encoded_xml(std::string_view text);

}  // namespace heed::document
