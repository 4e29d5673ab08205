#pragma once

#include <vector>

#include "capi/handles.h"
#include "heed/c_text.h"
#include "heed/tokenizer.h"

namespace heed::capi {

/// A tokenizer, and the texts that C callers read in place.
struct LoadedTokenizer {
  explicit LoadedTokenizer(Tokenizer loaded)
      : tokenizer(std::move(loaded)), added_tokens(tokenizer.added_tokens()) {}

  Tokenizer tokenizer;
  std::vector<AddedToken> added_tokens;
};

template <>
struct HandleOf<heed_tokenizer> {
  using Object = LoadedTokenizer;
  static constexpr const char* kName = "tokenizer";
};

/// The tokenizer of a handle. A copy, which outlives the handle.
inline Tokenizer tokenizer_of(const heed_tokenizer* handle) { return object_of(handle)->tokenizer; }

}  // namespace heed::capi
