#include "heed/serve/fields/structured_output_fields.h"

#include <optional>
#include <set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

constexpr const char* kAnyObject = R"({"type": "object"})";

/// What fields say of an output, and which of them do.
class OutputFields {
 public:
  void read_response_format(JsonFields& fields);
  void read_text_format(JsonFields& fields);
  void read_structured_outputs(JsonFields& fields);
  void read_guided(JsonFields& fields);
  void read_llama_cpp(JsonFields& fields);
  void set_schema(const Json& schema, const std::string& field) {
    described_by(field).json_schema = schema.dump();
  }

  /// Compiles it.
  StructuredOutput prepare(const ModelCall& call) const;

 private:
  /// The output, which `field` describes. Throws ApiError if another one does.
  StructuredOutput& described_by(const std::string& field);
  void read_schema(JsonFields& fields, const char* name);
  void read_regex(JsonFields& fields, const char* name);
  void read_choice(JsonFields& fields, const char* name);
  void read_grammar(JsonFields& fields, const char* name);
  void read_any_object(JsonFields& fields, const char* name);
  void read_white_space_pattern(JsonFields& fields, const char* name);
  void set_white_space(JsonWhiteSpace white_space, const std::string& field);

  StructuredOutput output_;
  std::string field_;              // that describes it
  std::string white_space_field_;  // that chooses another than JsonWhiteSpace::free
};

StructuredOutput& OutputFields::described_by(const std::string& field) {
  if (!field_.empty())
    throw invalid_request(field, fmt::format("{} is given beside {}, expected one", field, field_));
  field_ = field;
  return output_;
}

void OutputFields::read_schema(JsonFields& fields, const char* name) {
  const Json* const schema = fields.find(name);
  // Clients of vLLM send it as an object or as its text.
  if (schema)
    described_by(fields.path_of(name)).json_schema =
        schema->is_string() ? schema->get<std::string>() : schema->dump();
}

void OutputFields::read_regex(JsonFields& fields, const char* name) {
  if (auto regex = fields.text(name)) described_by(fields.path_of(name)).regex = std::move(*regex);
}

void OutputFields::read_choice(JsonFields& fields, const char* name) {
  if (auto choice = fields.texts(name))
    described_by(fields.path_of(name)).choice = std::move(*choice);
}

void OutputFields::read_grammar(JsonFields& fields, const char* name) {
  if (auto grammar = fields.text(name))
    generate::set_grammar(described_by(fields.path_of(name)), std::move(*grammar));
}

void OutputFields::read_any_object(JsonFields& fields, const char* name) {
  if (fields.boolean(name).value_or(false))
    described_by(fields.path_of(name)).json_schema = kAnyObject;
}

/// What a regular expression for the white space of JSON comes to, if heed has that.
std::optional<JsonWhiteSpace> white_space_of(const std::string& pattern) {
  if (pattern.empty()) return JsonWhiteSpace::compact;
  if (pattern == R"(\s*)") return JsonWhiteSpace::free;
  if (!pattern.starts_with('[') || !pattern.ends_with("]*")) return std::nullopt;
  std::set<char> characters;
  for (size_t i = 1; i + 2 < pattern.size(); ++i) {
    if (pattern[i] != '\\') {
      characters.insert(pattern[i]);
      continue;
    }
    const char escaped = pattern[++i];
    characters.insert(escaped == 't'   ? '\t'
                      : escaped == 'n' ? '\n'
                      : escaped == 'r' ? '\r'
                                       : escaped);
  }
  if (characters != std::set{' ', '\t', '\n', '\r'}) return std::nullopt;
  return JsonWhiteSpace::free;
}

void OutputFields::read_white_space_pattern(JsonFields& fields, const char* name) {
  const auto pattern = fields.text(name);
  if (!pattern) return;
  const std::string field = fields.path_of(name);
  const auto white_space = white_space_of(*pattern);
  if (!white_space)
    throw invalid_request(
        field,
        fmt::format("{} is {}, expected \"\" for no white space or \"[ \\t\\n\\r]*\" for any",
                    field, quoted(*pattern)));
  set_white_space(*white_space, field);
}

void OutputFields::set_white_space(JsonWhiteSpace white_space, const std::string& field) {
  if (white_space == JsonWhiteSpace::free) return;
  output_.json_white_space = white_space;
  white_space_field_ = field;
}

void OutputFields::read_response_format(JsonFields& fields) {
  if (!fields.find("response_format")) return;
  JsonFields format = fields.inner("response_format");
  const std::string type = format.one_of("type", {"text", "json_object", "json_schema"});
  if (type == "json_object") {
    // llama.cpp's server has a schema there.
    read_schema(format, "schema");
    if (field_.empty()) described_by(fields.path_of("response_format")).json_schema = kAnyObject;
  }
  if (type == "json_schema") {
    JsonFields named = format.inner("json_schema");
    named.ignore({"name", "description", "strict"});  // every schema is enforced
    named.require("schema");
    read_schema(named, "schema");
    named.end();
  }
  format.end();
}

void OutputFields::read_text_format(JsonFields& fields) {
  const std::string type = fields.one_of("type", {"text", "json_object", "json_schema"});
  if (type == "json_object") described_by(fields.path_of("type")).json_schema = kAnyObject;
  if (type == "json_schema") {
    fields.required_text("name");
    fields.ignore({"description", "strict"});  // every schema is enforced
    fields.require("schema");
    read_schema(fields, "schema");
  }
  fields.end();
}

void OutputFields::read_structured_outputs(JsonFields& fields) {
  if (!fields.find("structured_outputs")) return;
  JsonFields one = fields.inner("structured_outputs");
  read_schema(one, "json");
  read_any_object(one, "json_object");
  read_regex(one, "regex");
  read_choice(one, "choice");
  read_grammar(one, "grammar");
  read_white_space_pattern(one, "whitespace_pattern");
  output_.complete = one.boolean("complete").value_or(false);
  output_.free_log_probabilities = one.boolean("free_log_probabilities").value_or(false);
  if (one.boolean("disable_any_whitespace").value_or(false))
    set_white_space(JsonWhiteSpace::compact, one.path_of("disable_any_whitespace"));
  one.only("disable_additional_properties", false);
  one.only("structural_tag", Json());
  one.end();
}

void OutputFields::read_guided(JsonFields& fields) {
  read_schema(fields, "guided_json");
  read_regex(fields, "guided_regex");
  read_choice(fields, "guided_choice");
  read_grammar(fields, "guided_grammar");
  read_white_space_pattern(fields, "guided_whitespace_pattern");
  fields.ignore({"guided_decoding_backend"});
}

void OutputFields::read_llama_cpp(JsonFields& fields) {
  if (fields.text("grammar").value_or("") != "") read_grammar(fields, "grammar");  // "" is none
  read_schema(fields, "json_schema");
}

/// The keywords for a line of the log, which is not to grow with the schema.
std::vector<std::string> for_log(std::vector<std::string> keywords) {
  constexpr size_t kMostKeywords = 20, kMostBytes = 100;
  if (keywords.size() > kMostKeywords) keywords.resize(kMostKeywords);
  for (std::string& keyword : keywords)
    if (keyword.size() > kMostBytes) keyword.resize(kMostBytes);
  return keywords;
}

bool describes_anything(const StructuredOutput& output) {
  return !output.json_schema.empty() || !output.regex.empty() || !output.gbnf.empty() ||
         !output.lark.empty() || !output.choice.empty();
}

StructuredOutput OutputFields::prepare(const ModelCall& call) const {
  if (!field_.empty() && !describes_anything(output_))
    throw invalid_request(field_, fmt::format("{} is empty", field_));
  if (!white_space_field_.empty() && output_.json_schema.empty())
    throw invalid_request(white_space_field_,
                          fmt::format("{} is given without a JSON Schema", white_space_field_));
  // `complete` alone may belong to a call of a tool, which the chat's tool_choice forces.
  if (field_.empty()) return output_;
  try {
    GenerateOptions options;
    options.structured_output = output_;
    call.call->set_ignored_keywords(for_log(call.model().prepare(options)));
  } catch (const InputError& error) {
    throw invalid_request(field_, fmt::format("{}: {}", field_, error.what()));
  }
  return output_;
}

}  // namespace

StructuredOutput read_structured_output(const ModelCall& call, JsonFields& fields) {
  OutputFields output;
  output.read_response_format(fields);
  output.read_structured_outputs(fields);
  output.read_guided(fields);
  output.read_llama_cpp(fields);
  return output.prepare(call);
}

StructuredOutput output_of_schema(const ModelCall& call, const Json& schema,
                                  const std::string& field) {
  OutputFields output;
  output.set_schema(schema, field);
  return output.prepare(call);
}

TextFormat read_text_format(const ModelCall& call, JsonFields& fields) {
  TextFormat result{.output = {}, .format = {{"type", "text"}}};
  if (!fields.find("text")) return result;
  JsonFields text = fields.inner("text");
  text.only("verbosity", "medium");
  if (const Json* const given = text.find("format")) {
    JsonFields format = text.inner("format");
    OutputFields output;
    output.read_text_format(format);
    result.output = output.prepare(call);
    result.format = *given;
    if (result.format.value("type", "") == "json_schema")
      for (const char* const name : {"description", "strict"})
        if (!result.format.contains(name)) result.format[name] = nullptr;
  }
  text.end();
  return result;
}

}  // namespace heed::serve
