#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/jinja/limits.h"
#include "heed/jinja/values/text.h"

namespace heed::jinja {

/// What a template gives.
struct Rendered {
  std::string text;
  /// Which bytes of `text` come from strings of the context, trusted variables excepted: ascending,
  /// no two touch. A byte is listed if the character that it stands for was one of the context's,
  /// however it got there: through variables, joins, slices, replacements, changes of case,
  /// escapes, JSON. Texts that a function makes of its arguments as a whole (strftime_now) are
  /// listed if an argument is. Digits of numbers, "True" and "None" are the template's.
  std::vector<Span> input;
  /// What the {% generation %} blocks gave, in the order of their ends.
  std::vector<Span> generations;
};

namespace ast {
struct Template;
}

/// A chat template: Jinja as transformers configures it, that is jinja2's ImmutableSandboxed-
/// Environment with trim_blocks, lstrip_blocks, loop controls and {% generation %}; filters and
/// functions with the semantics of Python 3. ints have 64 bits; a result that needs more is an
/// Error. Thread-safe.
class Template {
 public:
  /// Parses `source`; `name` stands for it in messages. Throws Error "NAME:LINE: ..." for what is
  /// not grammatical, for an unknown filter or test, and for what heed does not have: inheritance,
  /// imports, autoescape, the filters pprint, random, striptags, urlize and wordwrap, the functions
  /// cycler, joiner and lipsum.
  static Template parse(std::string_view source, const std::string& name);

  /// Renders with the members of the object `context` as variables. The strings of the variables
  /// named in `trusted` count as the template's own. Throws Error "NAME:LINE: ..." for what Python
  /// refuses, for raise_exception(), and when a limit is exceeded.
  Rendered render(const nlohmann::ordered_json& context, const Limits& limits = {},
                  std::span<const std::string_view> trusted = {}) const;

 private:
  Template(std::shared_ptr<const ast::Template> tree, std::string name)
      : tree_(std::move(tree)), name_(std::move(name)) {}

  std::shared_ptr<const ast::Template> tree_;
  std::string name_;
};

}  // namespace heed::jinja
