#include "heed/base/error.h"

#include <nlohmann/json.hpp>
#include "heed/base/json.h"
#include "heed/text/files/read_steps.h"
#include "heed/text/normalizers/map_text.h"
#include "heed/text/pre_tokenizers/split_text.h"

namespace heed::text {
namespace {

class MetaspacePreTokenizer : public PieceSplitter {
 public:
  explicit MetaspacePreTokenizer(const MetaspaceOptions& options)
      : options_(options), replacement_(code_point_at(options.replacement, 0).value) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    map_text(text, [&](char32_t value, std::string_view bytes, std::string& result) {
      result += value == ' ' ? std::string_view(options_.replacement) : bytes;
    });
    using Prepend = MetaspaceOptions::Prepend;
    const bool wanted = options_.prepend == Prepend::always ||
                        (options_.prepend == Prepend::first && text.at_start > 0);
    if (wanted && !text.text.starts_with(options_.replacement)) prepend(options_.replacement, text);
    if (!options_.split) {
      parts.push_back({std::move(text), std::nullopt});
      return;
    }
    const auto is_replacement = [&](char32_t value) { return value == replacement_; };
    split_text(text, mark_code_points(text.text, is_replacement), SplitBehavior::merged_with_next,
               parts);
  }

 private:
  MetaspaceOptions options_;
  char32_t replacement_;
};

}  // namespace

std::unique_ptr<PreTokenizer> make_metaspace(const MetaspaceOptions& options) {
  return std::make_unique<MetaspacePreTokenizer>(options);
}

MetaspaceOptions read_metaspace_options(const nlohmann::json& json, const std::string& file) {
  MetaspaceOptions options;
  options.replacement = read_character(json, "replacement", file);
  options.split = get_or<bool>(json, "split", true, file);
  using Prepend = MetaspaceOptions::Prepend;
  const auto scheme = get_or<std::string>(json, "prepend_scheme", "", file);
  const bool prefix = get_or<bool>(json, "add_prefix_space", true, file);
  if (scheme == "first")
    options.prepend = Prepend::first;
  else if (scheme == "never" || (scheme.empty() && !prefix))
    options.prepend = Prepend::never;
  else
    require(scheme == "always" || scheme.empty(),
            "{}: prepend_scheme is \"{}\", expected first, never or always", file,
            one_line(scheme));
  require(prefix || options.prepend == Prepend::never,
          "{}: add_prefix_space is false, which contradicts prepend_scheme {}", file,
          one_line(scheme));
  return options;
}

}  // namespace heed::text
