#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// How a byte-level tokenizer splits words, by the name that GGUF files have for it
/// ("tokenizer.ggml.pre"; the names are llama.cpp's).
struct NamedSplit {
  std::vector<std::string> patterns;  // one after the other, matches isolated
  bool ignore_merges = false;         // a word that is a piece is not split
  bool add_bos = false;               // default if the file has no such key
};

/// Throws Error, beginning with `where`, on an unknown name.
NamedSplit named_split(std::string_view name, const std::string& where);

/// The first name of a split with the same patterns and the same ignore_merges; "" if there is
/// none.
std::string name_of_split(const NamedSplit& split);

}  // namespace heed::text
