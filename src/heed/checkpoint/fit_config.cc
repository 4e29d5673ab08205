#include "heed/checkpoint/fit_config.h"

#include <cstring>

#include "heed/base/error.h"

namespace heed::checkpoint {
namespace {

using model::Family;
using model::ModelConfig;

constexpr const char* kTable = "model.shared.weight";
constexpr const char* kSourceTable = "model.encoder.embed_tokens.weight";
constexpr const char* kTargetTable = "model.decoder.embed_tokens.weight";
constexpr const char* kLmHead = "lm_head.weight";

/// The file's name of token embeddings [V, D].
std::string table_in(const io::TensorSource& source, const Family& family,
                     const ModelConfig& config, const char* parameter) {
  const Shape shape{config.vocab_size, config.d_model};
  return name_in(source, family, family.stored(config, parameter, shape).name);
}

bool are_equal(const io::TensorSource& source, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Tensor first = source.get(a), second = source.get(b);
  const bool equal =
      first.dtype() == second.dtype() && first.shape() == second.shape() &&
      std::memcmp(first.raw(), second.raw(), static_cast<size_t>(first.bytes())) == 0;
  const std::string names[] = {a, b};
  source.release_all(names);
  return equal;
}

/// The token embeddings and the head that a file has. Of tied ones, any may be missing.
struct Tables {
  std::string shared, source, target, head;  // empty: missing

  Tables(const io::TensorSource& file, const Family& family, const ModelConfig& config) {
    const auto find = [&](const char* parameter) {
      const std::string name = table_in(file, family, config, parameter);
      return file.contains(name) ? name : std::string();
    };
    shared = find(kTable);
    source = find(kSourceTable);
    target = find(kTargetTable);
    head = find(kLmHead);
  }

  static const std::string& first_of(const std::string& a, const std::string& b,
                                     const std::string& c) {
    return !a.empty() ? a : !b.empty() ? b : c;
  }
  /// The table that each stack reads, and that of the head if it is tied.
  const std::string& of_source() const { return first_of(source, shared, target); }
  const std::string& of_target() const { return first_of(target, shared, source); }
  const std::string& of_tied_head() const { return first_of(head, shared, of_target()); }
  /// The table of a model that has only one.
  const std::string& of_model(const ModelConfig& config) const {
    return first_of(config.decoder_layers > 0 ? of_target() : of_source(), head, head);
  }
};

void require_expressible(const io::TensorSource& source, const Family& family,
                         const ModelConfig& config, const std::string& table,
                         const std::string& other) {
  require(family.can_express(config),
          "{}: {} and {} differ, expected the same numbers, since the configuration ties them",
          source.name(), table, other);
}

void fit_tables(const io::TensorSource& source, const Family& family, const Tables& tables,
                ModelConfig& config) {
  const bool both = config.encoder_layers > 0 && config.decoder_layers > 0;
  if (!both || config.encoder_vocab_size > 0 || tables.of_source().empty() ||
      are_equal(source, tables.of_source(), tables.of_target()))
    return;
  config.encoder_vocab_size = config.vocab_size;
  require_expressible(source, family, config, tables.of_source(), tables.of_target());
}

bool has(const io::TensorSource& source, const Family& family, const ModelConfig& config,
         const char* parameter) {
  const Shape shape{config.d_model, config.d_model};
  return source.contains(name_in(source, family, family.stored(config, parameter, shape).name));
}

void fit_head(const io::TensorSource& source, const Family& family, const Tables& tables,
              ModelConfig& config) {
  const bool bare = !config.has_head && !config.classifier.present();
  if (bare && family.decoder_only && !tables.head.empty()) config.has_head = true;
  if (!config.has_head) return;
  if (config.head_transform && !has(source, family, config, "lm_head.dense.weight")) {
    config.warnings.push_back(fmt::format(
        "{}: the head of masked tokens is missing, so the model has states but predicts no tokens",
        source.name()));
    config.has_head = config.head_transform = false;
    return;
  }
  if (!config.tied_head) {
    const auto stored = family.stored(config, kLmHead, {config.vocab_size, config.d_model});
    if (tables.head.empty() && stored.otherwise.empty() && family.decoder_only) {
      config.has_head = false;
      config.warnings.push_back(
          fmt::format("{}: {} is missing, so the model has states but predicts no tokens",
                      source.name(), stored.name));
    }
    return;
  }
  const std::string &head = tables.of_tied_head(), &table = tables.of_model(config);
  if (table.empty() || are_equal(source, head, table)) return;
  config.tied_head = false;
  require_expressible(source, family, config, head, table);
  config.warnings.push_back(
      fmt::format("{}: tie_word_embeddings is true and is ignored: {} and {} differ", source.name(),
                  head, table));
}

}  // namespace

std::string name_in(const io::TensorSource& source, const Family& family, const std::string& name) {
  const bool prefixed = name.starts_with(family.prefix);
  const std::string other =
      prefixed ? name.substr(family.prefix.size()) : fmt::format("{}{}", family.prefix, name);
  for (const std::string& candidate : {name, other}) {
    if (source.contains(candidate)) return candidate;
    if (!family.older_name) continue;
    if (const std::string older = family.older_name(candidate); source.contains(older))
      return older;
  }
  return name;
}

std::string tensor_of(const io::TensorSource& source, const Family& family,
                      const ModelConfig& config, const std::string& parameter, const Shape& shape) {
  const model::StoredWeight stored = family.stored(config, parameter, shape);
  if (parameter == kTable) {
    const std::string table = Tables(source, family, config).of_model(config);
    if (!table.empty()) return table;
  }
  for (const std::string& candidate : {stored.preferred, stored.name, stored.otherwise}) {
    if (candidate.empty()) continue;
    if (const std::string name = name_in(source, family, candidate); source.contains(name))
      return name;
  }
  return name_in(source, family, stored.name);
}

ModelConfig fitted(ModelConfig config, const Family& family, const io::TensorSource& source) {
  if (config.pooler) {
    const Shape shape{config.d_model, config.d_model};
    const std::string name = family.stored(config, "model.pooler.weight", shape).name;
    config.pooler = source.contains(name_in(source, family, name));
  }
  Tables tables(source, family, config);
  if (config.encoder_vocab_size > 0) tables.shared.clear();  // the stacks share nothing
  fit_tables(source, family, tables, config);
  fit_head(source, family, tables, config);
  return config;
}

bool may_be_left_out(const io::TensorSource& source, const Family& family,
                     const ModelConfig& config, const std::string& name) {
  if (family.redundant(name)) return true;
  const Tables tables(source, family, config);
  if (name == tables.head) return !config.has_head || config.tied_head;
  // fitted() has found that they are equal.
  return name == tables.shared || name == tables.source || name == tables.target;
}

}  // namespace heed::checkpoint
