#include "heed/jinja/runtime.h"

#include "heed/base/utf8.h"

namespace heed::jinja {
namespace {

IteratorRef make_iterator(std::string_view type_name, int depth, Iterator::Next next) {
  return std::make_shared<Iterator>(type_name, std::move(next), depth);
}

/// Elements 0 to size - 1 of something, as get(index).
template <typename Get>
IteratorRef indexed(Runtime& runtime, size_t size, int depth, Get get) {
  return make_iterator("iterator", depth,
                       [&runtime, size, get = std::move(get), i = size_t{0}](Value& value) mutable {
                         if (i == size) return false;
                         runtime.step();
                         value = get(i++);
                         return true;
                       });
}

IteratorRef characters_of(Runtime& runtime, TextRef text) {
  return make_iterator("str_iterator", 1,
                       [&runtime, text = std::move(text), at = size_t{0}](Value& value) mutable {
                         if (at == text->bytes.size()) return false;
                         runtime.step();
                         const size_t end = at + code_point_at(text->bytes, at).length;
                         TextBuilder character(runtime.values);  // str, even of Markup
                         character.append(*text, at, end);
                         value = runtime.text(character.finish());
                         at = end;
                         return true;
                       });
}

}  // namespace

Runtime::~Runtime() {
  for (const auto& object : kept_) object->break_cycles();
}

Value Runtime::text(std::string_view bytes, bool input) {
  step_bytes(bytes.size());
  TextBuilder builder(values);
  builder.append(bytes, input);
  return text(builder.finish());
}

Value Runtime::slice(const Text& text, size_t begin, size_t end) {
  step_bytes(end - begin);
  TextBuilder builder(values);
  builder.append(text, begin, end);
  return this->text(builder.finish(text.markup));
}

Value Runtime::list(std::vector<Value> items, bool tuple) {
  step(1 + items.size() / 8);
  auto list = std::make_shared<List>();
  list->charge = Charge(values, sizeof(List) + items.capacity() * sizeof(Value));
  for (const Value& item : items) list->depth = std::max(list->depth, item.depth() + 1);
  if (list->depth > kMaxValueDepth) fail("lists nest deeper than {} levels", kMaxValueDepth);
  list->items = std::move(items);
  list->tuple = tuple;
  return Value(ListRef(std::move(list)));
}

Value Runtime::dict(Dict dict) {
  if (dict.depth() > kMaxValueDepth) fail("dicts nest deeper than {} levels", kMaxValueDepth);
  return Value(std::make_shared<const Dict>(std::move(dict)));
}

Value Runtime::generator(Iterator::Next next, int depth, std::string_view type_name) {
  if (depth > kMaxValueDepth) fail("iterators nest deeper than {} levels", kMaxValueDepth);
  return object(make_iterator(type_name, depth, std::move(next)));
}

IteratorRef iterate(Runtime& runtime, const Value& value) {
  if (value.is_sequence())
    return indexed(runtime, value.items().size(), value.depth() + 1,
                   [value](size_t i) { return value.items()[i]; });
  if (value.is_text()) return characters_of(runtime, value.text_ref());
  if (value.is_dict())
    return indexed(runtime, value.dict().size(), value.depth() + 1,
                   [value](size_t i) { return value.dict().entries()[i].first; });
  if (value.is_undefined()) return indexed(runtime, 0, 1, [](size_t) { return Value::none(); });
  if (const auto* range = value.as<Range>())
    return indexed(runtime, range->size(), 1,
                   [value, range](size_t i) { return Value((*range)[i]); });
  if (const auto* view = value.as<DictView>())
    return indexed(runtime, view->dict()->size(), value.depth() + 1,
                   [&runtime, value, view](size_t i) { return view->item(runtime, i); });
  if (auto* iterator = value.as<Iterator>())
    return make_iterator("iterator", value.depth(),
                         [value, iterator](Value& next) { return iterator->next(next); });
  runtime.fail("'{}' object is not iterable", type_name(value));
}

bool is_iterable(const Value& value) {
  return value.is_sequence() || value.is_text() || value.is_dict() || value.is_undefined() ||
         value.as<Range>() || value.as<DictView>() || value.as<Iterator>();
}

std::vector<Value> items_of(Runtime& runtime, const Value& value) {
  if (value.is_sequence()) {
    runtime.step(1 + value.items().size() / 8);
    return value.items();
  }
  std::vector<Value> items;
  const IteratorRef iterator = iterate(runtime, value);
  Charge charge(runtime.values, 0);
  for (Value item; iterator->next(item);) {
    charge.add(2 * sizeof(Value));
    items.push_back(std::move(item));
  }
  return items;
}

std::optional<size_t> length_of(Runtime& runtime, const Value& value) {
  if (value.is_text()) return value.text().length;
  if (value.is_sequence()) return value.items().size();
  if (value.is_dict()) return value.dict().size();
  if (value.is_undefined()) return 0;
  return value.is_object() ? value.object().length(runtime) : std::nullopt;
}

bool is_true(Runtime& runtime, const Value& value) {
  if (value.is_none()) return false;
  if (const auto number = value.number()) return *number != 0;
  const auto length = length_of(runtime, value);
  return !length || *length != 0;
}

void fail_undefined(Runtime& runtime, const Value& value) {
  runtime.fail("{}", value.undefined()->message);
}

}  // namespace heed::jinja
