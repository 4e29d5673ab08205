#include "heed/model/families/family.h"

#include <array>

#include "heed/base/error.h"
#include "heed/model/families/heed.h"
#include "heed/model/families/marian.h"

namespace heed::model {

std::span<const Family> families() {
  static const std::array all{marian_family(), pegasus_family(), heed_family()};
  return all;
}

const Family& family_of_type(std::string_view model_type, const std::string& file) {
  std::string known;
  for (const Family& family : families()) {
    if (family.model_type == model_type) return family;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_type);
  }
  fail("{}: model_type is \"{}\", expected one of {}", file, model_type, known);
}

const Family& family_for(const ModelConfig& config) {
  for (const Family& family : families())
    if (family.can_express(config)) return family;
  return families().back();
}

}  // namespace heed::model
