#pragma once

#include "heed/document/document.h"

namespace heed::document {

struct DocumentContent;

// Each reads `content.bytes`, which are UTF-8, into the rest of `content`. They throw InputError
// for what Document::read() refuses.

void read_text(DocumentContent& content, const KeepOptions& keep);
void read_html(DocumentContent& content, const KeepOptions& keep);

}  // namespace heed::document
