#include <algorithm>
#include <ctime>

#include "heed/base/quote.h"
#include "heed/jinja/builtins/builtins.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

/// The longest range that the sandbox allows.
constexpr size_t kMaxRange = 100000;
constexpr size_t kMaxDateBytes = 4096;

Value make_range(Call& call) {
  const auto& given = call.arguments.positional;
  if (given.empty() || given.size() > 3 || !call.arguments.keywords.empty())
    call.runtime.fail("range() takes 1 to 3 arguments");
  int64_t bounds[3] = {0, 0, 1};
  for (size_t i = 0; i < given.size(); ++i) {
    const auto integer = given[i].integer();
    if (given[i].is_undefined()) fail_undefined(call.runtime, given[i]);
    if (!integer)
      call.runtime.fail("'{}' object cannot be interpreted as an integer", type_name(given[i]));
    bounds[given.size() == 1 ? 1 : i] = *integer;
  }
  if (bounds[2] == 0) call.runtime.fail("range() arg 3 must not be zero");
  auto range = std::make_shared<Range>(bounds[0], bounds[1], bounds[2]);
  if (range->size() > kMaxRange) call.runtime.fail("range() has more than {} items", kMaxRange);
  return call.runtime.object(std::move(range));
}

/// What dict(mapping or pairs, **keywords) holds.
void fill_dict(Call& call, Dict& dict) {
  const auto& given = call.arguments.positional;
  if (given.size() > 1) call.runtime.fail("at most 1 argument is expected, found {}", given.size());
  if (!given.empty() && given[0].is_dict()) {
    for (const auto& [key, value] : given[0].dict().entries()) dict.set(call.runtime, key, value);
  } else if (!given.empty()) {
    for (const Value& pair : items_of(call.runtime, given[0])) {
      const std::vector<Value> parts = items_of(call.runtime, pair);
      if (parts.size() != 2)
        call.runtime.fail("an element has length {}; 2 is required", parts.size());
      dict.set(call.runtime, parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : call.arguments.keywords)
    dict.set(call.runtime, call.runtime.text(name), value);
}

Value make_dict(Call& call) {
  Dict dict;
  fill_dict(call, dict);
  return call.runtime.dict(std::move(dict));
}

Value make_namespace(Call& call) {
  auto space = std::make_shared<Namespace>();
  call.runtime.keep(space);
  fill_dict(call, space->attributes);
  for (const auto& [key, value] : space->attributes.entries())
    if (key.is_text() && key.text().bytes.starts_with('_'))
      call.runtime.fail("a namespace cannot have the attribute {}", quoted(key.text().bytes));
  return call.runtime.object(std::move(space));
}

Value raise_exception(Call& call) {
  const Value message = str_of(call.runtime, *call.values[0]);
  call.runtime.fail("{}", one_line(message.text().bytes));
}

/// The time of this machine, in the "C" locale if the program has set no other.
Value strftime_now(Call& call) {
  const Text& format = call.text(0);
  if (format.bytes.size() > kMaxDateBytes / 16)
    call.runtime.fail("strftime_now(): the format has more than {} bytes", kMaxDateBytes / 16);
  if (format.bytes.empty()) return call.runtime.text("");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char buffer[kMaxDateBytes];
  // The space tells an empty result from one that does not fit.
  const size_t size = std::strftime(buffer, sizeof buffer, (format.bytes + " ").c_str(), &local);
  if (size == 0) call.runtime.fail("strftime_now(): the result is too long");
  return call.runtime.text({buffer, size - 1}, !format.input.empty());
}

constexpr Builtin kFunctions[] = {
    {"range", "*", make_range},
    {"dict", "*", make_dict},
    {"namespace", "*", make_namespace},
    {"raise_exception", "message", raise_exception},
    {"strftime_now", "format", strftime_now},
};

}  // namespace

const Builtin* find_function(std::string_view name) { return find_in(kFunctions, name); }

}  // namespace heed::jinja
