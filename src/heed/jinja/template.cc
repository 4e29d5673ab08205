#include "heed/jinja/template.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/jinja/builtins/bind.h"
#include "heed/jinja/interpreter.h"
#include "heed/jinja/parser/parser.h"
#include "heed/jinja/values/json.h"

namespace heed::jinja {

Template Template::parse(std::string_view source, const std::string& name) {
  const std::string shown = one_line(name);
  require(source.size() <= limits::kMaxTemplateBytes, "{}: the template has {} bytes, at most {}",
          shown, source.size(), limits::kMaxTemplateBytes);
  auto tree = std::make_shared<ast::Template>(Parser(source, shown).parse());
  bind_variables(*tree, shown);
  return {std::move(tree), shown};
}

Rendered Template::render(const nlohmann::ordered_json& context, const Limits& limits,
                          std::span<const std::string_view> trusted) const {
  Runtime runtime(name_, limits);
  require(context.is_object(), "{}: the context is not an object", name_);
  Dict variables;
  for (const auto& [key, value] : context.items())
    variables.set(runtime, runtime.text(key),
                  from_json(runtime, value, std::ranges::find(trusted, key) == trusted.end()));
  TextBuilder out(runtime.output);
  Interpreter interpreter(runtime, variables);
  interpreter.run(*tree_, out);
  Text text = out.finish();
  return {std::move(text.bytes), std::move(text.input), std::move(interpreter.generations())};
}

}  // namespace heed::jinja
