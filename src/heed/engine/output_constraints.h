#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
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

 private:
  std::shared_ptr<const constrain::Constraint> compiled(const StructuredOutput& asked,
                                                        const text::Tokenizer& tokenizer) const;

  mutable Mutex mutex_;
  mutable std::deque<std::pair<StructuredOutput, std::shared_ptr<const constrain::Constraint>>>
      last_ HEED_GUARDED_BY(mutex_);
  mutable std::deque<std::shared_ptr<const constrain::Vocabulary>> vocabularies_
      HEED_GUARDED_BY(mutex_);
};

}  // namespace heed::engine
