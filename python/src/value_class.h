#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace heed::python {

namespace nb = nanobind;

/// `value` in numbers, texts, lists and dicts, as JSON has them.
nb::object plain_value(nb::handle value);
/// "Score(tokens=[1, 2], perplexity=3.0)" of the attributes `names`, without None and empty lists.
std::string described(nb::handle value, const std::vector<const char*>& names);
bool have_equal_attributes(nb::handle left, nb::handle right,
                           const std::vector<const char*>& names);
nb::dict attributes_of(nb::handle value, const std::vector<const char*>& names);

/// A class of results: read-only attributes, by which its objects are compared, printed, pickled,
/// and written as a dict. `T` must be default constructible.
template <typename T>
class ValueClass {
 public:
  ValueClass(nb::module_& m, const char* name, const char* help) : class_(m, name, help) {}

  /// An attribute that is a member of the struct.
  template <typename Owner, typename Value>
  ValueClass& field(const char* name, Value Owner::*member, const char* help) {
    class_.def_ro(name, member, help);
    return remember(name, [member](T& to, nb::handle value) {
      to.*member = nb::cast<std::decay_t<Value>>(value);
    });
  }

  /// An attribute that `get` computes, and `set(value, given)` restores.
  template <typename Value, typename Get>
  ValueClass& field(const char* name, const Get& get, std::function<void(T&, Value)> set,
                    const char* help) {
    class_.def_prop_ro(name, get, help);
    return remember(
        name, [set = std::move(set)](T& to, nb::handle value) { set(to, nb::cast<Value>(value)); });
  }

  /// An attribute that follows from the others.
  template <typename Get>
  ValueClass& derived(const char* name, const Get& get, const char* help) {
    class_.def_prop_ro(name, get, help);
    derived_.push_back(name);
    return *this;
  }

  /// Defines ==, repr(), to_dict() and pickling, and returns the class.
  nb::class_<T>& finish() {
    const std::vector<const char*> names = names_;
    std::vector<const char*> all = names_;
    all.insert(all.end(), derived_.begin(), derived_.end());
    class_.def(
        "__eq__",
        [names](nb::handle one, nb::handle other) {
          return one.type().is(other.type()) && have_equal_attributes(one, other, names);
        },
        nb::arg("other"));
    class_.def("__hash__", [names](nb::handle one) {
      return nb::hash(nb::str(described(one, names).c_str()));
    });
    class_.def("__repr__", [names](nb::handle one) { return described(one, names); });
    class_.def(
        "to_dict",
        [all](nb::handle one) {
          return nb::typed<nb::dict, nb::str, nb::any>(attributes_of(one, all));
        },
        "The attributes in a dict, of numbers, texts, lists and dicts, as JSON has them.");
    class_.def("__getstate__", [names](nb::handle one) {
      nb::list values;
      for (const char* name : names) values.append(one.attr(name));
      return nb::typed<nb::tuple, nb::any, nb::ellipsis>(nb::tuple(values));
    });
    class_.def(
        "__setstate__",
        [setters = setters_](T& to, const nb::typed<nb::tuple, nb::any, nb::ellipsis>& values) {
          new (&to) T();
          if (values.size() != setters.size())
            throw nb::value_error("it was pickled by another version of heed");
          for (size_t i = 0; i < setters.size(); ++i) setters[i](to, values[i]);
        });
    return class_;
  }

 private:
  ValueClass& remember(const char* name, std::function<void(T&, nb::handle)> set) {
    names_.push_back(name);
    setters_.push_back(std::move(set));
    return *this;
  }

  nb::class_<T> class_;
  std::vector<const char*> names_, derived_;
  std::vector<std::function<void(T&, nb::handle)>> setters_;
};

}  // namespace heed::python
