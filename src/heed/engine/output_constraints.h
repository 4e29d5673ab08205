#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/generate/constrained_output.h"
#include "heed/generation.h"

namespace heed::engine {

/// The constraints that the last requests of a model had, compiled, and the bytes of its tokens.
class OutputConstraints {
 public:
  /// What an output must match; empty for nothing. `end_tokens` end it. Throws InputError when
  /// `asked` is not valid, sets more than one member or needs bytes that no token has.
  generate::OutputConstraint get(const StructuredOutput& asked, const text::Tokenizer& tokenizer,
                                 int64_t vocab_size, std::vector<int32_t> end_tokens) const;

  /// As Model::prepare(). Throws InputError as get() does, but not for bytes that no token has.
  std::vector<std::string> ignored(const StructuredOutput& asked,
                                   const text::Tokenizer& tokenizer) const;

 private:
  struct Compiled {
    StructuredOutput asked;
    std::shared_ptr<const constrain::Constraint> constraint;
    std::vector<std::string> ignored;  // keywords of a JSON Schema
  };
  Compiled compiled(const StructuredOutput& asked, const text::Tokenizer& tokenizer) const;

  mutable Mutex mutex_;
  mutable std::deque<Compiled> last_ HEED_GUARDED_BY(mutex_);
  mutable std::deque<std::shared_ptr<const constrain::Vocabulary>> vocabularies_
      HEED_GUARDED_BY(mutex_);
};

}  // namespace heed::engine
