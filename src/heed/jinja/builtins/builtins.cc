#include "heed/jinja/builtins/builtins.h"

#include <algorithm>

#include "heed/base/quote.h"

namespace heed::jinja {
namespace {

/// Parameters of a builtin, one after the other.
class Parameters {
 public:
  explicit Parameters(std::string_view rest) : rest_(rest) {
    positional_only_ = rest_.starts_with("/");
    if (positional_only_) rest_.remove_prefix(1);
  }
  bool positional_only() const { return positional_only_; }
  bool next() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find(' '), rest_.size());
    name_ = rest_.substr(0, end);
    rest_.remove_prefix(end);
    optional_ = name_.ends_with('?');
    if (optional_) name_.remove_suffix(1);
    return true;
  }
  std::string_view name() const { return name_; }
  bool optional() const { return optional_; }

 private:
  std::string_view rest_, name_;
  bool positional_only_, optional_ = false;
};

void match(Call& call, const Builtin& builtin) {
  Parameters parameters(builtin.parameters);
  const Arguments& given = call.arguments;
  size_t count = 0, by_name = 0;
  while (parameters.next()) {
    const Value* named = parameters.positional_only() ? nullptr : given.keyword(parameters.name());
    const bool positional = count < given.positional.size();
    if (positional && named)
      call.runtime.fail("{}() got multiple values for argument '{}'", builtin.name,
                        parameters.name());
    if (!positional && !named && !parameters.optional())
      call.runtime.fail("{}() misses the argument '{}'", builtin.name, parameters.name());
    if (named) ++by_name;
    call.values[count] = positional ? &given.positional[count] : named;
    ++count;
  }
  if (given.positional.size() > count)
    call.runtime.fail("{}() takes at most {} arguments, {} were given", builtin.name, count,
                      given.positional.size());
  if (by_name < given.keywords.size())
    call.runtime.fail("{}() got an unexpected keyword argument", builtin.name);
}

const Builtin* find_in(std::initializer_list<Builtins> tables, std::string_view name) {
  for (const Builtins& table : tables)
    if (const Builtin* found = find_in(table, name)) return found;
  return nullptr;
}

}  // namespace

const Builtin* find_in(Builtins builtins, std::string_view name) {
  const auto found = std::ranges::find(builtins, name, &Builtin::name);
  return found == builtins.end() ? nullptr : &*found;
}

int64_t Call::integer(size_t i, int64_t otherwise) const {
  if (!has(i)) return otherwise;
  if (const auto integer = values[i]->integer()) return *integer;
  if (values[i]->is_undefined()) fail_undefined(runtime, *values[i]);
  runtime.fail("'{}' object cannot be interpreted as an integer", type_name(*values[i]));
}

const Text& Call::text(size_t i) const {
  if (has(i) && values[i]->is_text()) return values[i]->text();
  runtime.fail("argument {} must be str, not {}", i + 1, type_name(value(i)));
}

Value invoke(Runtime& runtime, const Builtin& builtin, const Value& self, Arguments& arguments) {
  runtime.step();
  Call call{runtime, self, arguments};
  if (builtin.parameters != "*") match(call, builtin);
  return builtin.run(call);
}

const Builtin* find_filter(std::string_view name) {
  return find_in({text_filters(), list_filters(), selection_filters(), ordering_filters(),
                  json_filters(), number_filters(), html_filters()},
                 name);
}

const Builtin* find_method(const Value& value, std::string_view name) {
  if (value.is_text())
    return find_in({text_methods(), text_search_methods(), text_property_methods()}, name);
  if (value.is_dict()) return find_in(dict_methods(), name);
  if (value.is_tuple() && name == "copy") return nullptr;
  const bool range = value.as<Range>() != nullptr && name != "copy";
  return value.is_sequence() || range ? find_in(sequence_methods(), name) : nullptr;
}

bool is_unsupported_filter(std::string_view name) {
  constexpr std::array<std::string_view, 16> kNames{
      "batch",  "center",    "filesizeformat", "forceescape", "format",   "groupby",
      "pprint", "random",    "slice",          "striptags",   "truncate", "urlencode",
      "urlize", "wordcount", "wordwrap",       "xmlattr"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool passes(Runtime& runtime, std::string_view name, const Value& value, Arguments& arguments) {
  const Builtin* test = find_test(name);
  if (test == nullptr) runtime.fail("No test named {}.", quoted(name));
  return is_true(runtime, invoke(runtime, *test, value, arguments));
}

Value filtered(Runtime& runtime, std::string_view name, const Value& value, Arguments& arguments) {
  const Builtin* filter = find_filter(name);
  if (is_unsupported_filter(name)) runtime.fail("the filter {} is not supported", quoted(name));
  if (filter == nullptr) runtime.fail("No filter named {}.", quoted(name));
  return invoke(runtime, *filter, value, arguments);
}

}  // namespace heed::jinja
