#include "heed/language.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "call.h"
#include "model.h"
#include "value_class.h"

// The language of a text.
namespace heed::python {

void bind_language(nb::module_& m) {
  ValueClass<DetectedLanguage>(m, "DetectedLanguage", "A language that a text may be in.")
      .field("code", &DetectedLanguage::code, "ISO 639-1, in two letters")
      .field("probability", &DetectedLanguage::probability, "0 to 1")
      .finish();
  m.def(
      "detect_language",
      [](nb::handle text, nb::handle among) {
        const std::string read = text_from(text, "text");
        const Arguments languages(texts_from(among, "languages"));
        return run([&] { return detect_language(read, *languages); });
      },
      nb::arg("text"), nb::arg("languages"));
  m.def("detectable_languages", [] { return LanguageIdentifier::built_in().languages(); });
}

}  // namespace heed::python
