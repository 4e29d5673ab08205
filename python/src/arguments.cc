#include "arguments.h"

#include <fmt/format.h>

#include "heed/base/file.h"

namespace heed::python {
namespace {

std::string python_type(nb::handle value) { return nb::str(value.type().attr("__name__")).c_str(); }

int32_t token_from(nb::handle value, std::string_view name) {
  return static_cast<int32_t>(integer_from(value, name, std::numeric_limits<int32_t>::min(),
                                           std::numeric_limits<int32_t>::max()));
}

}  // namespace

void wrong_type(nb::handle value, std::string_view name, std::string_view expected) {
  throw nb::type_error(
      fmt::format("{} has the type {}, expected {}", name, python_type(value), expected).c_str());
}

void wrong_value(const std::string& message) { throw nb::value_error(message.c_str()); }

std::string text_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::str>(value)) wrong_type(value, name, "str");
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) throw nb::python_error();  // UnicodeEncodeError, a ValueError
  return {text, static_cast<size_t>(size)};
}

std::filesystem::path path_from(nb::handle value, std::string_view name) {
  const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
  if (!path) {
    PyErr_Clear();
    wrong_type(value, name, "str or os.PathLike");
  }
  PyObject* bytes = nullptr;  // as the file system has it
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) throw nb::python_error();
  const nb::bytes held = nb::steal<nb::bytes>(bytes);
  return std::string(held.c_str(), held.size());
}

bool bool_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::bool_>(value)) wrong_type(value, name, "bool");
  return value.ptr() == Py_True;
}

double number_from(nb::handle value, std::string_view name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number != -1.0 || PyErr_Occurred() == nullptr) return number;
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  PyErr_Clear();
  if (too_large) wrong_value(fmt::format("{} is too large for a float", name));
  wrong_type(value, name, "a number");
}

int64_t integer_from(nb::handle value, std::string_view name, int64_t min, int64_t max) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index) {
    PyErr_Clear();
    wrong_type(value, name, "int");
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || number < min || number > max)
    wrong_value(fmt::format("{} is {}, expected {} to {}", name, nb::str(index).c_str(), min, max));
  return number;
}

std::vector<std::string> texts_from(nb::handle value, std::string_view name) {
  return list_from(value, name, text_from);
}

std::vector<int32_t> tokens_from(nb::handle value, std::string_view name) {
  return list_from(value, name, token_from);
}

std::vector<TokenBias> biases_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) wrong_type(value, name, "a dict of tokens");
  constexpr auto most = std::numeric_limits<int32_t>::max();
  std::vector<TokenBias> biases;
  for (const auto& [token, bias] : nb::borrow<nb::dict>(value))
    biases.push_back(
        {static_cast<int32_t>(integer_from(token, fmt::format("a token of {}", name), 0, most)),
         static_cast<float>(number_from(bias, fmt::format("a number of {}", name)))});
  return biases;
}

std::vector<GlossaryTerm> glossary_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) {
    const std::filesystem::path file = path_from(value, name);
    return parse_glossary(read_file(file), file.string());
  }
  std::vector<GlossaryTerm> terms;
  for (const auto& [source, target] : nb::borrow<nb::dict>(value)) {
    const std::string of_target = fmt::format("a target of {}", name);
    terms.push_back({.source = text_from(source, fmt::format("a term of {}", name)),
                     .targets = nb::isinstance<nb::str>(target)
                                    ? std::vector{text_from(target, of_target)}
                                    : texts_from(target, of_target)});
  }
  return terms;
}

Prompt prompt_from(nb::handle value, std::string_view name) {
  if (nb::isinstance<nb::str>(value)) return text_from(value, name);
  return tokens_from(value, name);
}

ClassifyInput classify_input_from(nb::handle value, std::string_view name) {
  if (nb::isinstance<nb::str>(value)) return text_from(value, name);
  std::vector<std::string> pair = texts_from(value, name);
  if (pair.size() != 2)
    wrong_value(fmt::format("{} has {} texts, expected one or a pair", name, pair.size()));
  return TextPair{std::move(pair[0]), std::move(pair[1])};
}

void Keywords::finish(std::string_view function) const {
  for (const auto& [name, value] : values_)
    throw nb::type_error(
        fmt::format("{}() got an unexpected keyword argument '{}'", function, nb::str(name).c_str())
            .c_str());
}

}  // namespace heed::python
