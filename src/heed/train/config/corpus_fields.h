#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "heed/data/corpus.h"

namespace heed::train {

/// The corpora of a list of tables. Throws Error, which names `key`, on anything else, on keys that
/// corpora do not have and on values of another type.
std::vector<data::Corpus> read_corpora(const std::string& key, const toml::node& node);

/// The same as TOML, on one line.
std::string literal_of(const std::vector<data::Corpus>& corpora);

}  // namespace heed::train
