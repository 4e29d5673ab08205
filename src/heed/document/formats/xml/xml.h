#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "heed/document/formats/xml/tokens.h"
#include "heed/document/run.h"

namespace heed::document {

/// Appends the text of XML without tags: characters of its references, but for entities of the
/// document's own, which are points. If white space is preserved, line breaks are borders.
void append_xml_text(std::vector<InlineToken>& tokens, std::string_view raw, bool preserves_space);

/// How XML is written.
RunRules xml_rules(const KeepOptions& keep, bool preserves_space);

/// The text that `raw` reads as, with tags and all else left out.
std::string xml_text_of(std::span<const XmlToken> tokens);

/// For each start tag the place of its end tag.
std::vector<size_t> end_tags(const std::vector<XmlToken>& tokens);

/// Whether a tag preserves white space; what holds around it unless it says so itself.
bool preserves_space(const XmlToken& tag, bool around);

}  // namespace heed::document
