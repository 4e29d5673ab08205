#include "heed/serve/routes/embedding_fields.h"

#include <fmt/format.h>

#include "heed/base/base64.h"
#include "heed/base/names.h"
#include "heed/base/quote.h"
#include "heed/serve/embedding_call.h"

namespace heed::serve {
namespace {

/// The names that a prompt for this purpose may have.
std::vector<std::string> names_of_purpose(const std::string& purpose) {
  const std::string kind = purpose.substr(purpose.find_last_of("._") + 1);  // npos + 1 is 0
  std::vector<std::string> kinds{kind};
  if (kind == "document") kinds.emplace_back("passage");
  if (kind == "passage") kinds.emplace_back("document");
  std::vector<std::string> names{purpose};
  for (const std::string& one : kinds)
    for (const char* prefix : {"", "search_", "retrieval."}) names.push_back(prefix + one);
  return names;
}

/// The prompt, if texts with it may be embedded beside others.
std::string usable(const std::string& prompt, const EmbedSettings& settings,
                   const std::string& field) {
  if (!settings.include_prompt && prompt != settings.prompt)
    throw invalid_request(field, fmt::format("{} asks for a prompt, which the model does not pool; "
                                             "heed offers that for its default prompt only",
                                             field));
  return prompt;
}

}  // namespace

std::string read_text_purpose(JsonFields& fields, std::string_view name, const Model& model) {
  const std::optional<std::string> purpose = fields.text(name);
  const EmbedSettings settings = model.embed_settings();
  if (!purpose) return settings.prompt;
  for (const std::string& prompt : names_of_purpose(*purpose))
    if (const auto found = settings.prompts.find(prompt); found != settings.prompts.end())
      return usable(found->second, settings, fields.path_of(name));
  fields.report_ignored(name);
  return settings.prompt;
}

std::string read_prompt_name(JsonFields& fields, std::string_view name, const Model& model) {
  const std::optional<std::string> prompt = fields.text(name);
  const EmbedSettings settings = model.embed_settings();
  if (!prompt) return settings.prompt;
  const auto found = settings.prompts.find(*prompt);
  if (found != settings.prompts.end()) return usable(found->second, settings, fields.path_of(name));
  std::vector<std::string> known;
  for (const auto& [one, text] : settings.prompts) known.push_back(one);
  throw invalid_request(
      fields.path_of(name),
      fmt::format("{} is {}; the prompts of the model's files are: {}", fields.path_of(name),
                  quoted(*prompt),
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

bool read_normalize(JsonFields& fields, std::string_view name, const Model& model) {
  const std::optional<bool> asked = fields.boolean(name);
  if (asked == false && model.embed_settings().normalize)
    throw invalid_request(
        fields.path_of(name),
        fmt::format("{} is false, but the model's files say that its vectors have "
                    "length 1",
                    fields.path_of(name)));
  return asked.value_or(false);
}

Json VectorForm::json(std::vector<float> vector) const {
  shorten(vector, dimensions);
  if (normalize) scale_to_unit_length(vector);
  if (precision == EmbedPrecision::float32 && !base64) return vector;
  const std::vector<std::byte> bytes = quantize_embeddings(vector, std::ssize(vector), precision,
                                                           ranges ? *ranges : EmbeddingRanges())
                                           .bytes;
  const auto* const first = reinterpret_cast<const char*>(bytes.data());
  if (base64) return encode_base64({first, bytes.size()});
  if (precision == EmbedPrecision::uint8 || precision == EmbedPrecision::ubinary)
    return std::vector<uint8_t>(first, first + bytes.size());
  return std::vector<int8_t>(first, first + bytes.size());
}

EmbedPrecision precision_named(std::string_view name) {
  for (const EmbedPrecision one : enumerators<EmbedPrecision>())
    if (name == name_of(one)) return one;
  return EmbedPrecision::float32;
}

void set_ranges(VectorForm& form, const ModelCall& call, const std::string& field) {
  if (form.precision != EmbedPrecision::int8 && form.precision != EmbedPrecision::uint8) return;
  form.ranges = call.target.embedding_ranges;
  const std::string name(name_of(form.precision));
  if (!form.ranges)
    throw invalid_request(field, fmt::format("{} asks for {}, and the server has no ranges of the "
                                             "dimensions of {}, by which numbers are scaled "
                                             "(embedding_ranges in serve.toml)",
                                             field, name, quoted(call.target.name)));
  if (form.ranges->min.size() != form.dimensions)
    throw invalid_request(field,
                          fmt::format("{} asks for {} and {} dimensions, and the server has "
                                      "the ranges of {} dimensions",
                                      field, name, form.dimensions, form.ranges->min.size()));
}

size_t read_dimensions(JsonFields& fields, std::string_view name, const Model& model) {
  const int64_t size = model.embedding_size();
  return static_cast<size_t>(fields.integer(name, 1, size).value_or(size));
}

}  // namespace heed::serve
