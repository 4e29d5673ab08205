#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/generate/constrained_output.h"
#include "heed/generation.h"

namespace heed::engine {

/// The tokens that outputs consist of.
struct OutputTokens {
  const text::Tokenizer& tokenizer;
  int64_t vocab_size;
  std::vector<int32_t> end_tokens;  // end an output
  int32_t forced_first = -1;        // precedes what must match; -1: none
};

/// The constraints that the last requests of a model had, compiled, and the bytes of its tokens.
class OutputConstraints {
 public:
  /// What an output must match; empty for nothing. Throws InputError when `asked` is not valid,
  /// sets more than one member or needs bytes that no token has.
  generate::OutputConstraint get(const StructuredOutput& asked, const OutputTokens& tokens) const;
  /// As Model::prepare(), of what get() was asked for before.
  std::vector<std::string> ignored(const StructuredOutput& asked) const;

 private:
  struct Compiled {
    StructuredOutput asked;
    std::shared_ptr<const constrain::Constraint> constraint;
    std::vector<std::string> ignored;  // keywords of a JSON Schema
  };
  std::optional<Compiled> find(const StructuredOutput& asked) const;
  Compiled compiled(const StructuredOutput& asked, const OutputTokens& tokens) const;
  std::shared_ptr<const constrain::Vocabulary> vocabulary(const OutputTokens& tokens) const;

  mutable Mutex mutex_;
  mutable std::deque<Compiled> last_ HEED_GUARDED_BY(mutex_);
  mutable std::deque<std::shared_ptr<const constrain::Vocabulary>> vocabularies_
      HEED_GUARDED_BY(mutex_);
};

}  // namespace heed::engine
