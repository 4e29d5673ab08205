// Lists of corpora in training configurations.
#include "heed/train/config/corpus_fields.h"

#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/train/config/toml_values.h"

namespace heed::train {
namespace {

using Text = std::pair<const char*, std::string data::Corpus::*>;

constexpr std::array kTexts{Text{"source", &data::Corpus::source},
                            Text{"target", &data::Corpus::target},
                            Text{"tsv", &data::Corpus::tsv},
                            Text{"alignments", &data::Corpus::alignments},
                            Text{"source_language", &data::Corpus::source_language},
                            Text{"target_language", &data::Corpus::target_language}};
constexpr const char* kWeightKey = "weight";

void read_value(const std::string& key, const std::string& name, const toml::node& node,
                data::Corpus& corpus) {
  if (name == kWeightKey) {
    corpus.weight = node.is_number() ? node.value_or(0.0) : 0;
    require(corpus.weight > 0, "{}: weight is {}, expected a number above 0", key,
            one_line(toml_of(node)));
    return;
  }
  for (const auto& [known, member] : kTexts)
    if (name == known) {
      const auto text = node.value_exact<std::string>();
      require(text.has_value(), "{}: {} is {}, expected a string", key, name,
              one_line(toml_of(node)));
      corpus.*member = *text;
      return;
    }
  fail(
      "{}: a corpus has no key {}, expected source, target, tsv, alignments, "
      "source_language, target_language or weight",
      key, one_line(name));
}

}  // namespace

std::vector<data::Corpus> read_corpora(const std::string& key, const toml::node& node) {
  const toml::array* list = node.as_array();
  require(list != nullptr, "{} is {}, expected a list of tables", key, one_line(toml_of(node)));
  std::vector<data::Corpus> corpora;
  for (const toml::node& element : *list) {
    const toml::table* table = element.as_table();
    require(table != nullptr, "{} holds {}, expected a table", key, one_line(toml_of(element)));
    data::Corpus& corpus = corpora.emplace_back();
    for (const auto& [name, value] : *table)
      read_value(key, std::string(name.str()), value, corpus);
  }
  return corpora;
}

std::string literal_of(const std::vector<data::Corpus>& corpora) {
  std::vector<std::string> tables;
  for (const data::Corpus& corpus : corpora) {
    std::vector<std::string> values;
    for (const auto& [name, member] : kTexts)
      if (const std::string& text = corpus.*member; !text.empty())
        values.push_back(fmt::format("{} = {}", name, toml_of(toml::value<std::string>(text))));
    if (corpus.weight > 0) values.push_back(fmt::format("{} = {}", kWeightKey, corpus.weight));
    tables.push_back(fmt::format("{{ {} }}", fmt::join(values, ", ")));
  }
  return fmt::format("[{}]", fmt::join(tables, ", "));
}

}  // namespace heed::train
