#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/gguf/metadata.h"

namespace heed::chat {

/// A chat template as it is stored.
struct StoredTemplate {
  std::string name;  // "default", "tool_use", ...
  std::string source;
  std::string file;  // for messages
};

/// The chat templates of a model directory, where transformers looks for them: chat_template.jinja
/// and additional_chat_templates/, or else chat_template of tokenizer_config.json; or those of a
/// GGUF file (tokenizer.chat_template). Empty if there are none. Throws Error when a file cannot be
/// read or holds something else.
std::vector<StoredTemplate> read_chat_templates(const std::filesystem::path& model);
/// Those of a GGUF file named `file`.
std::vector<StoredTemplate> read_gguf_chat_templates(const io::GgufMetadata& metadata,
                                                     const std::string& file);

}  // namespace heed::chat
