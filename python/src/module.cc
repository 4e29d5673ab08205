#include <nanobind/nanobind.h>

#include "call.h"
#include "model.h"

NB_MODULE(_heed, m) {
  namespace python = heed::python;
  m.doc() = "The C++ interface of heed, which the package heed wraps.";
  // A model in a global variable is alive when the interpreter ends.
  nanobind::set_leak_warnings(false);
  m.attr("version") = HEED_VERSION;
  python::bind_call(m);
  python::bind_results(m);
  python::bind_model(m);
  python::bind_session(m);
  python::bind_server(m);
  python::bind_training(m);
  python::bind_tokenizer(m);
  python::bind_language(m);
}
