#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::inspect {

/// Expects that a page refers neither to the network nor to other files.
inline void expect_self_contained(std::string_view page) {
  for (const std::string_view reference :
       {"http:", "https:", " src=", "@import", "<link", "fetch(", "import(", "<iframe", "<img"})
    EXPECT_EQ(page.find(reference), page.npos) << reference;
  for (size_t at = page.find("url("); at != page.npos; at = page.find("url(", at + 1))
    EXPECT_EQ(page[at + 4], '#');
}

/// The text between `before` and the next `after`; empty when `before` does not occur.
inline std::string between(std::string_view page, std::string_view before, std::string_view after) {
  const size_t begin = page.find(before);
  if (begin == page.npos) return {};
  const size_t from = begin + before.size();
  return std::string(page.substr(from, page.find(after, from) - from));
}

inline std::string from_base64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<uint32_t>(kDigits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xffu);
  }
  return bytes;
}

/// Decodes encoded_weights() as specified in weight_encoding.h.
inline std::vector<float> decoded(std::string_view bytes) {
  std::vector<float> weights;
  for (size_t at = 0; at < bytes.size();) {
    const auto code = static_cast<unsigned char>(bytes[at++]);
    if (code != 0) {
      const float root = static_cast<float>(code) / 255.0f;
      weights.push_back(root * root);
      continue;
    }
    size_t run = 0, shift = 0;
    unsigned char digit = 0x80;
    while (digit & 0x80) {
      digit = static_cast<unsigned char>(bytes.at(at++));
      run |= static_cast<size_t>(digit & 0x7f) << shift;
      shift += 7;
    }
    weights.insert(weights.end(), run, 0.0f);
  }
  return weights;
}

/// Checks that a document is well-formed XML. Supports the subset that heed writes: elements,
/// attributes in double quotes, the declaration and the five entities.
class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : text_(text) {}

  /// The first fault; empty for a well-formed document.
  std::string problem() {
    if (text_.starts_with("<?xml")) at_ = text_.find("?>") + 2;
    while (at_ < text_.size() && problem_.empty()) {
      if (text_[at_] == '<') {
        tag();
      } else {
        character(open_.empty() && text_[at_] != '\n' ? "text outside of the root" : "");
      }
    }
    if (problem_.empty() && !open_.empty()) problem_ = open_.back() + " is not closed";
    if (problem_.empty() && roots_ != 1) problem_ = "there is not one root";
    return problem_;
  }

 private:
  void character(std::string_view problem) {
    static constexpr std::string_view kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    problem_ = problem;
    if (text_[at_] == '&') {
      for (const std::string_view entity : kEntities)
        if (text_.substr(at_).starts_with(entity)) {
          at_ += entity.size();
          return;
        }
      problem_ = "a bare &";
    }
    if (static_cast<unsigned char>(text_[at_]) < 0x20 && text_[at_] != '\n') problem_ = "a control";
    ++at_;
  }

  std::string name() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void tag() {
    ++at_;
    const bool closing = text_[at_] == '/';
    if (closing) ++at_;
    const std::string element = name();
    if (element.empty()) problem_ = "a bare <";
    if (closing) {
      if (open_.empty() || open_.back() != element) problem_ = element + " closes another";
      if (!open_.empty()) open_.pop_back();
    } else {
      if (open_.empty()) ++roots_;
      open_.push_back(element);
      attributes();
    }
    if (problem_.empty() && text_[at_] == '/' && !closing) {
      ++at_;
      open_.pop_back();
    }
    if (problem_.empty() && text_[at_] != '>') problem_ = element + " does not end";
    ++at_;
  }

  void attributes() {
    std::vector<std::string> seen;
    while (problem_.empty() && text_[at_] == ' ') {
      ++at_;
      const std::string attribute = name();
      for (const std::string& other : seen)
        if (other == attribute) problem_ = attribute + " occurs twice";
      seen.push_back(attribute);
      if (attribute.empty() || text_.substr(at_, 2) != "=\"") problem_ = "a broken attribute";
      for (at_ += 2; problem_.empty() && text_[at_] != '"';)
        character(text_[at_] == '<' ? "a < in an attribute" : "");
      ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int roots_ = 0;
  std::vector<std::string> open_;
  std::string problem_;
};

}  // namespace heed::inspect
