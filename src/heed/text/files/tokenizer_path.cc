#include "heed/text/files/tokenizer_path.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/io/gguf/metadata.h"
#include "heed/text/files/tokenizer_files.h"
#include "heed/text/gguf/tokenizer.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::text {
namespace {

Tokenizer read_directory(const std::filesystem::path& path) {
  require(!TranslationTokenizer::exists(path) && !TranslationTokenizer::is_multilingual(path),
          "{} has a vocabulary for each side of a translation, expected one tokenizer for all "
          "texts; source.spm and target.spm can be read on their own",
          path.string());
  return Tokenizer::load(path);
}

}  // namespace

Tokenizer read_tokenizer(const std::filesystem::path& path) {
  if (path_is_directory(path)) return read_directory(path);
  if (path.extension() == ".gguf" || io::is_gguf(path))
    return read_gguf_tokenizer(io::GgufMetadata::open(path), path.string());
  std::string contents = read_file(path);
  if (path.extension() == ".json")
    return Tokenizer::from_json(parse_json(contents, path.string()), path.string());
  return sentencepiece_tokenizer(std::move(contents), path.string());
}

Tokenizer sentencepiece_tokenizer(std::string serialized, const std::string& name) {
  TokenizerParts parts = read_library_parts(serialized, name);
  const nlohmann::json config = {{"add_bos_token", false}, {"add_eos_token", false}};
  return Tokenizer::from_parts(std::move(parts), {},
                               {{"tokenizer.model", std::move(serialized)},
                                {"tokenizer_config.json", dump_json(config, {.indent = 2})}});
}

}  // namespace heed::text
