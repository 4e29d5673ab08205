#pragma once

#include "heed/document/document.h"

namespace heed::document {

struct DocumentContent;

// Each reads `content.bytes`, which are UTF-8, into the rest of `content`. They throw InputError
// for what Document::read() refuses.

void read_text(DocumentContent& content, const KeepOptions& keep);
void read_html(DocumentContent& content, const KeepOptions& keep);
void read_xml(DocumentContent& content, const KeepOptions& keep);
void read_markdown(DocumentContent& content, const KeepOptions& keep);
void read_srt(DocumentContent& content, const KeepOptions& keep);
void read_vtt(DocumentContent& content, const KeepOptions& keep);
void read_po(DocumentContent& content, const KeepOptions& keep);
void read_xliff(DocumentContent& content, const KeepOptions& keep);

}  // namespace heed::document
