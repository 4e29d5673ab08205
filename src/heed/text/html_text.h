#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// HTML as markup, which stays as it is, and texts, which others may replace. A text reaches from
/// one tag to the next; its character references are decoded and, outside of <pre>, its white space
/// is single spaces. Tags, comments and white space around texts are markup, and so is all that is
/// within <script>, <style>, <code> and other elements that hold no prose, translate="no" and
/// class="notranslate". Any input is read, in linear time: a tag or comment that does not end
/// reaches to the end of the input. Tags begin and end as the HTML standard has it
/// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization).
class HtmlText {
 public:
  explicit HtmlText(std::string_view html);

  /// Those texts that have a letter, in order; the rest is markup, too.
  const std::vector<std::string>& texts() const { return texts_; }
  /// The HTML with `replaced` in place of texts(), as many: with references for &, < and >.
  std::string with(std::span<const std::string> replaced) const;

 private:
  void read_texts(std::string_view html, bool preformatted);
  void read_text(std::string_view html, bool preformatted);

  std::vector<std::string> markup_;  // before each text, and after the last
  std::vector<std::string> texts_;
};

}  // namespace heed::text
