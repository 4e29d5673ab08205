#include "heed/base/error.h"
#include "heed/document/formats/formats.h"

namespace heed::document {

void read_markdown(DocumentContent& /*content*/, const KeepOptions& /*keep*/) {
  fail_input("Markdown is not read");
}

}  // namespace heed::document
