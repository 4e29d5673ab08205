#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/jinja/template.h"
#include "tests/base/testing.h"

namespace heed::jinja {

inline Rendered render_all(const std::string& source, const std::string& context = "{}",
                           const Limits& limits = {}) {
  return Template::parse(source, "chat").render(nlohmann::ordered_json::parse(context), limits);
}

inline std::string render(const std::string& source, const std::string& context = "{}") {
  return render_all(source, context).text;
}

/// A template and what it gives.
struct Case {
  const char* source;
  const char* output;
};

inline void expect_all(const std::vector<Case>& cases, const std::string& context = "{}") {
  for (const Case& c : cases) {
    try {
      EXPECT_EQ(render(c.source, context), c.output) << c.source;
    } catch (const Error& error) {
      ADD_FAILURE() << c.source << ": " << error.what();
    }
  }
}

inline void expect_render_error(const std::string& source, const std::string& part,
                                const std::string& context = "{}") {
  SCOPED_TRACE(source);
  expect_error([&] { render(source, context); }, part);
}

/// Expects that parsing alone fails.
inline void expect_parse_error(const std::string& source, const std::string& part) {
  SCOPED_TRACE(source);
  expect_error([&] { Template::parse(source, "chat"); }, part);
}

}  // namespace heed::jinja
