#include "value_class.h"

#include <string>

namespace heed::python {

nb::object plain_value(nb::handle value) {
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    nb::list list;
    for (const nb::handle one : value) list.append(plain_value(one));
    return list;
  }
  if (nb::hasattr(value, "to_dict")) return value.attr("to_dict")();
  if (nb::hasattr(value, "__fspath__")) return nb::str(value);
  return nb::borrow(value);
}

std::string described(nb::handle value, const std::vector<const char*>& names) {
  std::string text = nb::type_name(value.type()).c_str();
  text = text.substr(text.rfind('.') + 1) + "(";
  for (const char* name : names) {
    const nb::object attribute = value.attr(name);
    const bool is_list = nb::isinstance<nb::list>(attribute);
    if (attribute.is_none() || (is_list && nb::len(attribute) == 0)) continue;
    if (!text.ends_with('(')) text += ", ";
    text += name + std::string("=") + nb::repr(attribute).c_str();
  }
  return text + ")";
}

bool have_equal_attributes(nb::handle left, nb::handle right,
                           const std::vector<const char*>& names) {
  for (const char* name : names)
    if (!nb::object(left.attr(name)).equal(right.attr(name))) return false;
  return true;
}

nb::dict attributes_of(nb::handle value, const std::vector<const char*>& names) {
  nb::dict dict;
  for (const char* name : names) dict[name] = plain_value(value.attr(name));
  return dict;
}

}  // namespace heed::python
