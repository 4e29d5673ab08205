#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heed/jinja/values/text.h"

namespace heed::jinja {

class Runtime;
class Value;
struct List;
class Dict;
class Object;

/// Why a value is undefined: the message of the Error that using it gives.
struct Undefined {
  std::string message;
};

using UndefinedRef = std::shared_ptr<const Undefined>;
using ListRef = std::shared_ptr<const List>;
using DictRef = std::shared_ptr<const Dict>;
using ObjectRef = std::shared_ptr<Object>;

/// A value of a template, with the semantics of Python's. Copies share what they refer to.
class Value {
 public:
  struct None {};

  /// A variable without a value. Expressions never yield it.
  Value() = default;
  static Value none() { return Value(Data(None{})); }
  static Value undefined(std::string message) {
    return Value(Data(std::make_shared<const Undefined>(Undefined{std::move(message)})));
  }
  explicit Value(bool value) : data_(value) {}
  explicit Value(int64_t value) : data_(value) {}
  explicit Value(double value) : data_(value) {}
  explicit Value(TextRef text) : data_(std::move(text)) {}
  explicit Value(ListRef list) : data_(std::move(list)) {}
  explicit Value(DictRef dict) : data_(std::move(dict)) {}
  explicit Value(ObjectRef object) : data_(std::move(object)) {}
  template <typename T>
  explicit Value(const T*) = delete;  // else pointers would become bool

  bool is_missing() const { return is_undefined() && std::get<UndefinedRef>(data_) == nullptr; }
  bool is_undefined() const { return holds<UndefinedRef>(); }
  bool is_none() const { return holds<None>(); }
  bool is_bool() const { return holds<bool>(); }
  /// An int that is not a bool.
  bool is_int() const { return holds<int64_t>(); }
  bool is_float() const { return holds<double>(); }
  bool is_text() const { return holds<TextRef>(); }
  bool is_list() const;
  bool is_tuple() const;
  bool is_sequence() const { return holds<ListRef>(); }  // a list or a tuple
  bool is_dict() const { return holds<DictRef>(); }
  bool is_object() const { return holds<ObjectRef>(); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }

  const UndefinedRef& undefined() const { return std::get<UndefinedRef>(data_); }
  bool boolean() const { return std::get<bool>(data_); }
  double real() const { return std::get<double>(data_); }
  const Text& text() const { return *std::get<TextRef>(data_); }
  const TextRef& text_ref() const { return std::get<TextRef>(data_); }
  const List& list() const { return *std::get<ListRef>(data_); }
  const std::vector<Value>& items() const;
  const Dict& dict() const { return *std::get<DictRef>(data_); }
  const DictRef& dict_ref() const { return std::get<DictRef>(data_); }
  Object& object() const { return *std::get<ObjectRef>(data_); }

  /// An int; a bool counts as 0 or 1, as in Python.
  std::optional<int64_t> integer() const {
    if (is_int()) return std::get<int64_t>(data_);
    if (is_bool()) return boolean() ? 1 : 0;
    return std::nullopt;
  }
  /// Any number.
  std::optional<double> number() const {
    if (is_float()) return real();
    if (const auto value = integer()) return static_cast<double>(*value);
    return std::nullopt;
  }
  /// The object if it is a T.
  template <typename T>
  T* as() const {
    return is_object() ? dynamic_cast<T*>(std::get<ObjectRef>(data_).get()) : nullptr;
  }

  /// Python's `is`: the same object, or an equal value of a type without identity here.
  bool same_as(const Value& other) const;
  /// How many levels of containers this is: 0 for what is none.
  int depth() const;

 private:
  using Data =
      std::variant<UndefinedRef, None, bool, int64_t, double, TextRef, ListRef, DictRef, ObjectRef>;
  explicit Value(Data data) : data_(std::move(data)) {}
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(data_);
  }

  Data data_;
};

/// A list or a tuple. Immutable: the sandbox of transformers refuses what would change one.
struct List {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 1;
  Charge charge;
};

/// Everything else: ranges, iterators, namespaces, macros, methods.
class Object : public std::enable_shared_from_this<Object> {
 public:
  explicit Object(int depth = 1) : depth_(depth) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  int depth() const { return depth_; }
  /// Python's name of the type, for messages.
  virtual std::string_view type_name() const = 0;
  /// The attribute `name`; a missing value if there is none.
  virtual Value attribute(Runtime&, std::string_view name) const;
  /// Python's len(), if it has one.
  virtual std::optional<size_t> length(Runtime&) const { return std::nullopt; }

  Charge charge;  // set by Runtime::object()

 private:
  int depth_;
};

/// Python's type(value).__name__.
std::string_view type_name(const Value& value);

inline bool Value::is_list() const { return is_sequence() && !list().tuple; }
inline bool Value::is_tuple() const { return is_sequence() && list().tuple; }
inline const std::vector<Value>& Value::items() const { return list().items; }

}  // namespace heed::jinja
