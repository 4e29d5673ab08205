#include "heed/jinja/values/value.h"

#include "heed/jinja/values/dict.h"

namespace heed::jinja {

bool Value::same_as(const Value& other) const {
  if (data_.index() != other.data_.index()) return false;
  return std::visit(
      [&](const auto& mine) {
        using T = std::decay_t<decltype(mine)>;
        if constexpr (std::is_same_v<T, None>)
          return true;
        else
          return mine == std::get<T>(other.data_);
      },
      data_);
}

int Value::depth() const {
  if (is_sequence()) return list().depth;
  if (is_dict()) return dict().depth();
  return is_object() ? object().depth() : 0;
}

Value Object::attribute(Runtime& /*runtime*/, std::string_view /*name*/) const { return {}; }

std::string_view type_name(const Value& value) {
  if (value.is_undefined()) return "Undefined";
  if (value.is_none()) return "NoneType";
  if (value.is_bool()) return "bool";
  if (value.is_int()) return "int";
  if (value.is_float()) return "float";
  if (value.is_text()) return value.text().markup ? "Markup" : "str";
  if (value.is_sequence()) return value.list().tuple ? "tuple" : "list";
  if (value.is_dict()) return "dict";
  return value.object().type_name();
}

}  // namespace heed::jinja
