// Plain text: a line is a segment.
#include "heed/base/byte_order_mark.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"

namespace heed::document {

void read_text(DocumentContent& content, const KeepOptions& keep) {
  RunRules rules;
  rules.placeholders = {.common = keep.placeholders, .numbers = keep.numbers};
  rules.single_spaces = false;
  const std::string_view bytes = content.bytes;
  size_t begin = bytes.size() - without_byte_order_mark(bytes).size();
  while (begin < bytes.size()) {
    const size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string line(bytes.substr(begin, end - begin));
    content.add_in_place(begin, build_runs({{InlineToken::Kind::text, line, line}}, rules));
    begin = end + 1;
  }
}

}  // namespace heed::document
