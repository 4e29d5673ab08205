#pragma once

#include <string>
#include <string_view>

namespace heed::document {

/// A part of an HTML document, by the standard's tokenization
/// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization).
struct HtmlToken {
  /// `raw_text` is the content of <script>, <textarea> and the like, and `title` that of <title>.
  /// `other` is a comment, a document type or an instruction.
  enum class Kind { text, start, end, raw_text, title, comment, other };

  Kind kind = Kind::text;
  std::string_view raw;
  std::string name = {};      // of a tag, in lower case
  bool no_translate = false;  // translate="no" or class="notranslate"
  bool closes_itself = false;
  std::string charset = {};  // of <meta>
};

/// Splits any text, in linear time: what does not end reaches to the end of the text. The tokens
/// together are the text.
class HtmlTokenizer {
 public:
  explicit HtmlTokenizer(std::string_view html) : html_(html) {}

  /// False at the end. `foreign`: within <svg> or <math>, where CDATA sections are text.
  bool next(HtmlToken& token, bool foreign);

 private:
  HtmlToken take(HtmlToken::Kind kind, size_t size);

  std::string_view html_;  // the rest
  std::string raw_name_;   // of the element whose content is no markup
};

/// The text that `html`, which has no tags, stands for: character references are decoded, but for
/// those that are not known.
std::string decoded_html(std::string_view html);

/// The bytes of `html` before the first character reference that is not known, and those of it.
struct UnknownReference {
  size_t at = 0, size = 0;
};
UnknownReference find_unknown_reference(std::string_view html);

/// Text with references for &, < and >.
std::string encoded_html(std::string_view text);

}  // namespace heed::document
