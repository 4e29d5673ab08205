#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/model/lora.h"
#include "heed/text/regex/regex.h"

namespace heed::checkpoint {

/// A pattern of module names as PEFT reads it: a regular expression for the whole name, or for the
/// parts of it after a point ("q_proj", "layers\.1\..*").
class ModulePattern {
 public:
  enum class Match { whole, ending };
  /// Throws Error, beginning with `where`, on a pattern that text::Regex refuses.
  ModulePattern(const std::string& pattern, Match match, const std::string& where);
  bool matches(const std::string& module) const;

 private:
  text::Regex regex_;
};

/// Which modules of a model get an adapter.
struct AdapterTargets {
  /// "all-linear": all linear maps except the head, routers and experts. Otherwise names or endings
  /// of names, separated by commas ("q_proj,v_proj"), or a regular expression for whole names.
  std::string modules = "all-linear";
  std::vector<int64_t> layers = {};  // of either stack; empty: all
};

/// The modules that `targets` selects. Throws Error, which lists the endings of the model's
/// modules, when there are none, and as Transformer::require_adaptable() does.
std::vector<model::LinearModule> select_modules(const model::Transformer& model,
                                                const AdapterTargets& targets);

/// The last parts of the names of the adapted modules ("q_proj") if no other module has them, or
/// else their names.
std::vector<std::string> target_modules(std::span<const model::LinearModule> all,
                                        const model::LoraAdapter& adapter);

}  // namespace heed::checkpoint
