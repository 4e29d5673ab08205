#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <optional>
#include <string>

#include "heed/model.h"

namespace heed::python {

namespace nb = nanobind;

/// A model that can be closed. Calls that are running keep its weights alive.
class OpenModel {
 public:
  OpenModel(std::string name, std::filesystem::path path, Model model)
      : name_(std::move(name)), path_(std::move(path)), model_(std::move(model)) {}

  /// Shares the weights. Throws Error on a closed model.
  Model get() const;
  void close();
  bool is_open() const { return model_.has_value(); }
  /// As it was given to load().
  const std::string& name() const { return name_; }
  /// Where its files are.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::string name_;
  std::filesystem::path path_;
  std::optional<Model> model_;
};

/// Floats as a numpy array [rows, cols] or [cols] that owns them.
nb::object array_of(std::vector<float> values, std::vector<size_t> shape);

void bind_model(nb::module_& m);
void bind_results(nb::module_& m);
void bind_chat(nb::module_& m, nb::class_<OpenModel>& model);
void bind_attention(nb::module_& m, nb::class_<OpenModel>& model);
void bind_reading(nb::class_<OpenModel>& model);
void bind_session(nb::module_& m);
void bind_server(nb::module_& m);
void bind_training(nb::module_& m);
void bind_tokenizer(nb::module_& m);
void bind_language(nb::module_& m);

}  // namespace heed::python
