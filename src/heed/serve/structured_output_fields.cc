#include "heed/serve/structured_output_fields.h"

#include "heed/serve/api_error.h"

namespace heed::serve {
namespace {

constexpr const char* kAnyObject = R"({"type": "object"})";

StructuredOutput read_response_format(JsonFields& fields) {
  const Json* const value = fields.find("response_format");
  if (!value) return {};
  JsonFields format(*value, fields.path_of("response_format"));
  const std::string type = format.one_of("type", {"text", "json_object", "json_schema"});
  StructuredOutput output;
  if (type == "json_object") output.json_schema = kAnyObject;
  if (type == "json_schema") {
    JsonFields named(format.require("json_schema"), format.path_of("json_schema"));
    named.ignore({"name", "description", "strict"});  // every schema is enforced
    output.json_schema = named.require("schema").dump();
    named.refuse_others();
  }
  format.refuse_others();
  return output;
}

/// A grammar of GBNF has "::=" behind the name of its rules, one of Lark ":".
bool is_gbnf(const std::string& grammar) { return grammar.find("::=") != grammar.npos; }

StructuredOutput read_structured_outputs(JsonFields& fields) {
  const Json* const value = fields.find("structured_outputs");
  if (!value) return {};
  JsonFields one(*value, fields.path_of("structured_outputs"));
  StructuredOutput output;
  // vLLM's clients send a schema as an object or as its text.
  if (const Json* const schema = one.find("json"))
    output.json_schema = schema->is_string() ? schema->get<std::string>() : schema->dump();
  if (one.boolean("json_object").value_or(false)) output.json_schema = kAnyObject;
  output.regex = one.text("regex").value_or("");
  output.choice = one.texts("choice").value_or(std::vector<std::string>());
  if (const auto grammar = one.text("grammar"))
    (is_gbnf(*grammar) ? output.gbnf : output.lark) = *grammar;
  one.refuse_others();
  return output;
}

}  // namespace

StructuredOutput read_structured_output(JsonFields& fields) {
  StructuredOutput of_format = read_response_format(fields);
  StructuredOutput others = read_structured_outputs(fields);
  if (of_format == StructuredOutput()) return others;
  if (others != StructuredOutput())
    throw invalid_request("structured_outputs",
                          "structured_outputs is given beside response_format, expected one");
  return of_format;
}

}  // namespace heed::serve
