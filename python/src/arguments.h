#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "call.h"
#include "heed/classification.h"
#include "heed/generation.h"
#include "heed/glossary.h"

namespace heed::python {

namespace nb = nanobind;

// Python values as arguments. `name` is what messages call the value. Each throws TypeError on
// another type, ValueError on a number out of range and on a str with lone surrogates.

std::string text_from(nb::handle value, std::string_view name);
std::filesystem::path path_from(nb::handle value, std::string_view name);  // str or os.PathLike
bool bool_from(nb::handle value, std::string_view name);
double number_from(nb::handle value, std::string_view name);
int64_t integer_from(nb::handle value, std::string_view name, int64_t min, int64_t max);
/// A str, or token ids.
Prompt prompt_from(nb::handle value, std::string_view name);
/// A str, or a pair of them.
ClassifyInput classify_input_from(nb::handle value, std::string_view name);

/// The elements of an iterable, which is not a str.
template <typename From>
auto list_from(nb::handle value, std::string_view name, const From& from)
    -> std::vector<decltype(from(value, name))>;

/// TypeError: "temperature is a str, expected a number".
[[noreturn]] void wrong_type(nb::handle value, std::string_view name, std::string_view expected);
/// ValueError.
[[noreturn]] void wrong_value(const std::string& message);

std::vector<std::string> texts_from(nb::handle value, std::string_view name);
std::vector<int32_t> tokens_from(nb::handle value, std::string_view name);
/// A dict of tokens and numbers.
std::vector<TokenBias> biases_from(nb::handle value, std::string_view name);
/// A dict of terms and their targets, each a str or a list of them, or the path of a glossary file.
std::vector<GlossaryTerm> glossary_from(nb::handle value, std::string_view name);

/// An enumeration by its name (name_of). The enumerators are 0, 1, ...
template <typename Enum>
Enum enum_from(nb::handle value, std::string_view name) {
  const std::string text = text_from(value, name);
  std::string known;
  for (int i = 0; name_of(static_cast<Enum>(i)) != "?"; ++i) {
    if (text == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
    known += (i > 0 ? ", " : "") + std::string(name_of(static_cast<Enum>(i)));
  }
  wrong_value(std::string(name) + " is '" + text + "', expected one of " + known);
}

using Options = nb::typed<nb::dict, nb::str, nb::any>;

/// Keyword arguments of a function. None stands for an argument that is not given.
class Keywords {
 public:
  explicit Keywords(const nb::dict& values)
      : values_(nb::steal<nb::dict>(PyDict_Copy(values.ptr()))) {}

  bool has(const char* name) const {
    return values_.contains(name) && !nb::object(values_[name]).is_none();
  }

  /// Removes an argument; empty if it is not given.
  nb::object take(const char* name) {
    if (!values_.contains(name)) return {};
    nb::object value = values_[name];
    nb::del(values_[name]);
    return value.is_none() ? nb::object() : value;
  }

  /// Sets `to` if the argument is given.
  template <typename Value>
  void read(const char* name, Value& to) {
    if (const nb::object value = take(name)) assign(value, name, to);
  }

  /// Throws TypeError if arguments are left, which the function does not know.
  void finish(std::string_view function) const;

 private:
  template <typename Value>
  static void assign(nb::handle value, const char* name, std::optional<Value>& to) {
    Value read{};
    assign(value, name, read);
    to = std::move(read);
  }
  static void assign(nb::handle value, const char* name, std::string& to) {
    to = text_from(value, name);
  }
  static void assign(nb::handle value, const char* name, std::filesystem::path& to) {
    to = path_from(value, name);
  }
  static void assign(nb::handle value, const char* name, bool& to) { to = bool_from(value, name); }
  static void assign(nb::handle value, const char* name, std::chrono::milliseconds& to) {
    const double seconds = number_from(value, name);
    if (!(seconds >= 0 && seconds <= 1e7))
      wrong_value(std::string(name) + ": expected 0 to 10,000,000 seconds");
    to = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  }
  static void assign(nb::handle value, const char* name, std::vector<std::string>& to) {
    to = texts_from(value, name);
  }
  static void assign(nb::handle value, const char* name, std::vector<int32_t>& to) {
    to = tokens_from(value, name);
  }
  static void assign(nb::handle value, const char* name, std::vector<TokenBias>& to) {
    to = biases_from(value, name);
  }
  static void assign(nb::handle value, const char* name, std::vector<GlossaryTerm>& to) {
    to = glossary_from(value, name);
  }
  template <std::floating_point Number>
  static void assign(nb::handle value, const char* name, Number& to) {
    to = static_cast<Number>(number_from(value, name));
  }
  template <typename Value>
  requires std::is_enum_v<Value>
  static void assign(nb::handle value, const char* name, Value& to) {
    to = enum_from<Value>(value, name);
  }
  template <std::integral Number>
  static void assign(nb::handle value, const char* name, Number& to) {
    using Limits = std::numeric_limits<Number>;
    constexpr auto most = std::in_range<int64_t>(Limits::max())
                              ? static_cast<int64_t>(Limits::max())
                              : std::numeric_limits<int64_t>::max();
    to = static_cast<Number>(integer_from(value, name, static_cast<int64_t>(Limits::min()), most));
  }

  nb::dict values_;
};

template <typename From>
auto list_from(nb::handle value, std::string_view name, const From& from)
    -> std::vector<decltype(from(value, name))> {
  if (nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value))
    wrong_type(value, name, "a list");
  const nb::object iterator = nb::steal(PyObject_GetIter(value.ptr()));
  if (!iterator) {
    PyErr_Clear();
    wrong_type(value, name, "a list");
  }
  std::vector<decltype(from(value, name))> result;
  const Py_ssize_t length = PyObject_Length(value.ptr());
  if (length < 0) PyErr_Clear();               // an iterator
  constexpr Py_ssize_t kMostAtOnce = 1 << 20;  // a class may say anything
  result.reserve(static_cast<size_t>(std::clamp<Py_ssize_t>(length, 0, kMostAtOnce)));
  Turns turns;
  while (const nb::object item = nb::steal(PyIter_Next(iterator.ptr()))) {
    result.push_back(from(item, name));
    turns.next();
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return result;
}

}  // namespace heed::python
