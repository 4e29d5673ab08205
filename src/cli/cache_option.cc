#include "cli/cache_option.h"

#include <map>
#include <string>

namespace heed::cli {

Option add_cache_option(Command& command, std::optional<DType>& dtype) {
  static const std::map<std::string, DType> kTypes{
      {"f32", DType::f32}, {"bf16", DType::bf16}, {"int8", DType::q8_0}};
  return command
      .add_callback(
          "--cache", [&dtype](const std::string& name) { dtype = kTypes.at(name); },
          "Type of the kv cache")
      .one_of({"f32", "bf16", "int8"});
}

}  // namespace heed::cli
