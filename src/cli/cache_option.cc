#include "cli/cache_option.h"

#include <map>
#include <string>

namespace heed::cli {

CLI::Option* add_cache_option(CLI::App& app, std::optional<DType>& dtype) {
  static const std::map<std::string, DType> kTypes{
      {"f32", DType::f32}, {"bf16", DType::bf16}, {"int8", DType::q8_0}};
  return app
      .add_option_function<std::string>(
          "--cache", [&dtype](const std::string& name) { dtype = kTypes.at(name); },
          "Type of the kv cache: f32, bf16 or int8")
      ->check(CLI::IsMember({"f32", "bf16", "int8"}));
}

}  // namespace heed::cli
