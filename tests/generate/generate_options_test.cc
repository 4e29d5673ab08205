#include "heed/generate/generate_options.h"

#include <gtest/gtest.h>

#include <concepts>

#include "heed/attention.h"
#include "heed/chat.h"
#include "heed/classification.h"
#include "heed/embedding.h"
#include "heed/score.h"
#include "heed/translation.h"

namespace heed::generate {
namespace {

template <typename... Options>
constexpr bool all_compare = (std::equality_comparable<Options> && ...);
static_assert(
    all_compare<GenerateOptions, SearchOptions, TranslateOptions, EmbedOptions, ClassifyOptions,
                ScoreOptions, AttentionOptions, ChatOptions, StructuredOutput>);

template <typename Value>
void change(Value& value) {
  if constexpr (std::is_arithmetic_v<Value>)
    value = static_cast<Value>(value == 0);
  else if constexpr (std::is_enum_v<Value>)
    value = Value{1};
  else if constexpr (std::is_same_v<Value, std::string>)
    value = "a";
  else if constexpr (std::is_same_v<Value, std::vector<typename Value::value_type>>)
    value.emplace_back();
  else
    value.emplace();
}

template <typename Options, typename Option>
void expect_compared(const Option& option) {
  Options changed;
  EXPECT_EQ(changed, Options());
  change(changed.*option.field);
  EXPECT_NE(changed, Options()) << option.name;
}

TEST(GenerateOptions, AreDifferentWhenOneIs) {
  GenerateOption::for_each([](const auto& option) { expect_compared<GenerateOptions>(option); });
  SearchOption::for_each([](const auto& option) { expect_compared<SearchOptions>(option); });
  StructuredOutputOption::for_each(
      [](const auto& option) { expect_compared<StructuredOutput>(option); });
}

/// Does not compile when a struct has other fields than this: a field needs a row, but for
/// structured_output, whose own fields have them, and its answer, which answer_options() sets.
TEST(GenerateOptions, AreAllDeclared) {
  [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, af] =
      GenerateOptions();
  int rows = 0;
  GenerateOption::for_each([&](const auto&) { ++rows; });
  EXPECT_EQ(rows, 17);
  [[maybe_unused]] const auto& [r, s, t, u, v, w] = SearchOptions();
  rows = 0;
  SearchOption::for_each([&](const auto&) { ++rows; });
  EXPECT_EQ(rows, 6);
  [[maybe_unused]] const auto& [x, y, z, aa, ab, ac, ad, ae, answer] = StructuredOutput();
  rows = 0;
  StructuredOutputOption::for_each([&](const auto&) { ++rows; });
  EXPECT_EQ(rows, 8);
}

}  // namespace
}  // namespace heed::generate
