#include "heed/constrain/schema/json_schema.h"

#include "heed/constrain/schema/algebra.h"
#include "heed/constrain/schema/schema_grammar.h"

namespace heed::constrain {

Symbol add_json_schema(GrammarBuilder& builder, std::string_view schema,
                       const SchemaOptions& options, std::vector<std::string>* warnings) {
  SchemaAlgebra algebra(builder.expressions(), options);
  Symbol result = {};
  try {
    const ConjunctionId root = algebra.read(schema);
    if (algebra.is_empty(root)) algebra.refuse_empty();
    SchemaGrammar grammar(builder, algebra);
    result = grammar.value(root);
    grammar.finish();
  } catch (const TooComplex& error) {
    algebra.refuse_current(error.what());
  }
  if (warnings != nullptr) {
    warnings->insert(warnings->end(), algebra.warnings().begin(), algebra.warnings().end());
  }
  return result;
}

std::shared_ptr<const Constraint> compile_json_schema(std::string_view schema,
                                                      const SchemaOptions& options,
                                                      std::vector<std::string>* warnings) {
  GrammarBuilder builder;
  const Symbol start = add_json_schema(builder, schema, options, warnings);
  return std::make_shared<const Constraint>(std::move(builder), start);
}

}  // namespace heed::constrain
