#include "heed/jinja/values/case.h"

#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

constexpr char32_t kSigma = 0x3A3;

/// Whether the first cased character that `reader` finds after case-ignorable ones is there.
bool cased_follows(CharacterReader reader) {
  while (!reader.done()) {
    const char32_t value = reader.next().value;
    if (!is_case_ignorable(value)) return is_cased(value);
  }
  return false;
}

/// Lower case with the final form of sigma: after a cased letter, not before one.
class Lower {
 public:
  void append(TextBuilder& out, const Character& c, const CharacterReader& rest) {
    if (c.value == kSigma)
      out.append(after_cased_ && !cased_follows(rest) ? "\u03C2" : "\u03C3", c.input);
    else
      out.append(to_lower(c.value), c.input);
    skip(c.value);
  }
  /// A character that is written in another way.
  void skip(char32_t value) {
    if (!is_case_ignorable(value)) after_cased_ = is_cased(value);
  }

 private:
  bool after_cased_ = false;
};

}  // namespace

bool has_case(const Text& text, Case wanted) {
  bool any = false;
  for (CharacterReader reader(text); !reader.done();) {
    const char32_t value = reader.next().value;
    const bool upper = is_upper(value) || is_title(value), lower = is_lower(value);
    if (wanted == Case::upper && (lower || is_title(value))) return false;
    if (wanted == Case::lower && upper) return false;
    any = any || upper || lower;
  }
  return any;
}

void append_upper(TextBuilder& out, const Text& text) {
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    out.append(to_upper(c.value), c.input);
  }
}

void append_lower(TextBuilder& out, const Text& text) {
  Lower lower;
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    lower.append(out, c, reader);
  }
}

void append_title(TextBuilder& out, const Text& text) {
  Lower lower;
  bool after_cased = false;
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    if (after_cased) {
      lower.append(out, c, reader);
    } else {
      out.append(to_title(c.value), c.input);
      lower.skip(c.value);
    }
    after_cased = is_cased(c.value);
  }
}

void append_capitalized(TextBuilder& out, const Text& text) {
  Lower lower;
  for (CharacterReader reader(text); !reader.done();) {
    const Character c = reader.next();
    if (c.begin > 0) {
      lower.append(out, c, reader);
    } else {
      out.append(to_title(c.value), c.input);
      lower.skip(c.value);
    }
  }
}

}  // namespace heed::jinja
