#include "heed/text/language_tokens.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::text {
namespace {

constexpr std::array<std::string_view, 52> kMbart50{
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
    "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
    "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ",
    "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
    "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN",
    "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};

constexpr std::array<std::string_view, 100> kM2m100{
    "af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br",  "bs", "ca", "ceb", "cs", "cy",
    "da", "de", "el", "en",  "es", "et", "fa", "ff", "fi", "fr",  "fy", "ga", "gd",  "gl", "gu",
    "ha", "he", "hi", "hr",  "ht", "hu", "hy", "id", "ig", "ilo", "is", "it", "ja",  "jv", "ka",
    "kk", "km", "kn", "ko",  "lb", "lg", "ln", "lo", "lt", "lv",  "mg", "mk", "ml",  "mn", "mr",
    "ms", "my", "ne", "nl",  "no", "ns", "oc", "or", "pa", "pl",  "ps", "pt", "ro",  "ru", "sd",
    "si", "sk", "sl", "so",  "sq", "sr", "ss", "su", "sv", "sw",  "ta", "th", "tl",  "tn", "tr",
    "uk", "ur", "uz", "vi",  "wo", "xh", "yi", "yo", "zh", "zu"};

using Codes = LanguageTokens::Codes;

/// Some codes, first those that begin like this one.
std::string some_codes(const Codes& codes, std::string_view like) {
  constexpr size_t kMost = 8;
  std::vector<std::string> some;
  const auto begins_like = [&](const std::string& code) {
    return like.size() >= 2 && code.starts_with(like.substr(0, 2));
  };
  for (const bool alike : {true, false})
    for (const auto& [code, token] : codes)
      if (some.size() < kMost && begins_like(code) == alike) some.push_back(code);
  return fmt::format("{}{}", fmt::join(some, ", "), some.size() < codes.size() ? ", ..." : "");
}

std::optional<int32_t> find_code(const Codes& codes, std::string_view side, const std::string& code,
                                 const std::string& otherwise) {
  const std::string& wanted = code.empty() ? otherwise : code;
  if (wanted.empty()) return std::nullopt;
  const auto found = std::ranges::find(codes, wanted, &Codes::value_type::first);
  if (found == codes.end())
    fail_input("the {} language is {}, expected one of the model's {}: {}", side, quoted(wanted),
               codes.size(), some_codes(codes, wanted));
  return found->second;
}

}  // namespace

LanguageTokens::LanguageTokens(Layout layout, Codes codes, LanguagePair otherwise)
    : layout_(layout), codes_(std::move(codes)), otherwise_(std::move(otherwise)) {
  std::ranges::sort(codes_);
  if (layout != Layout::target_in_source) source_codes_ = codes_;
}

LanguageTokens::LanguageTokens(Codes targets, Codes sources)
    : LanguageTokens(Layout::both_in_source, std::move(targets)) {
  source_codes_ = std::move(sources);
  std::ranges::sort(source_codes_);
}

bool LanguageTokens::contains(int32_t token) const {
  const auto in = [&](const Codes& codes) {
    return std::ranges::find(codes, token, &Codes::value_type::second) != codes.end();
  };
  return in(codes_) || in(source_codes_);
}

std::optional<int32_t> LanguageTokens::source(const LanguagePair& pair) const {
  return find_code(source_codes_, "source", pair.source, otherwise_.source);
}

std::optional<int32_t> LanguageTokens::target(const LanguagePair& pair) const {
  return find_code(codes_, "target", pair.target, otherwise_.target);
}

void LanguageTokens::fail_missing(std::string_view side) const {
  const Codes& codes = side == "source" ? source_codes_ : codes_;
  fail_input("the {} language is not given, expected one of the model's {}: {}", side, codes.size(),
             some_codes(codes, ""));
}

std::vector<std::string> names_of(const LanguageTokens::Codes& codes) {
  std::vector<std::string> names;
  for (const auto& [code, token] : codes) names.push_back(code);
  return names;
}

std::span<const std::string_view> mbart_languages() { return std::span(kMbart50).first(25); }
std::span<const std::string_view> mbart50_languages() { return kMbart50; }
std::span<const std::string_view> m2m100_languages() { return kM2m100; }

}  // namespace heed::text
