#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

TEST(Errors, OfGrammarNameTheTemplateAndTheLine) {
  expect_parse_error("a\n{% if x %}\n",
                     "chat:2: Unexpected end of template, expected the tag endif");
  expect_parse_error("\n\n{{ x", "chat:3: unexpected end of template");
  expect_parse_error("\n{{ x y }}", "chat:2: expected the end of the print statement, found \"y\"");
  expect_parse_error("{{ (1] }}", "chat:1: unexpected ']', expected ')'");
  expect_parse_error("{# a", "chat:1: Missing end of comment tag");
  expect_parse_error("{% raw %}", "chat:1: Missing end of raw directive");
  expect_parse_error("{% set true = 1 %}", "can't assign");
  expect_parse_error("{% for loop in x %}{% endfor %}", "special loop variable");
  expect_parse_error("{{ f(a=1, a=2) }}", "keyword argument repeated");
  expect_parse_error("{% macro m(a, a) %}{% endmacro %}", "duplicate argument");
  expect_parse_error("{{ ? }}", "unexpected char");
  expect_parse_error("\xff", "not valid UTF-8");
}

TEST(Errors, OfUnsupportedConstructsAppearWhenTheTemplateIsParsed) {
  expect_parse_error("a\n{% include 'x' %}", "chat:2: the tag \"include\" is not supported");
  expect_parse_error("{% block b %}{% endblock %}", "chat:1: the tag \"block\" is not supported");
  expect_parse_error("\n{{ x | wordwrap }}", "chat:2: the filter \"wordwrap\" is not supported");
  expect_parse_error("\n{{ '%s' | format(x) }}", "chat:2: the filter \"format\" is not supported");
  expect_parse_error("\n{% for x in y recursive %}{% endfor %}",
                     "chat:2: a recursive loop is not supported");
  expect_parse_error("\n{{ lipsum() }}", "chat:2: the function lipsum is not supported");
  expect_parse_error("{% do x %}", "chat:1: Encountered unknown tag \"do\"");
  expect_parse_error("\n{{ x | nothing }}", "chat:2: No filter named \"nothing\".");
  expect_parse_error("{{ x is nothing }}", "chat:1: No test named \"nothing\".");
  // jinja2 lets a template ask first.
  EXPECT_EQ(render("{% if 'nothing' is filter %}{{ x | nothing }}{% else %}none{% endif %}"),
            "none");
  expect_render_error("{% if true %}\n{{ 1 | nothing }}{% endif %}", "chat:2: No filter named");
}

TEST(Errors, OfUnsupportedOperationsNameThem) {
  expect_render_error("\n{{ 'a'.zfill(3) }}", "chat:2: the method str.zfill is not supported");
  expect_render_error("\n{{ {}.fromkeys('ab') }}", "chat:2: the method dict.fromkeys is not");
  expect_render_error("\n{{ [1] | map('groupby', 'n') | list }}",
                      "chat:2: the filter \"groupby\" is not supported");
  expect_render_error("\n{% for x in 'ab' %}{{ loop.cycle(1, 2) }}{% endfor %}",
                      "chat:2: loop.cycle is not supported");
  expect_render_error("\n{{ '%s' % 1 }}", "chat:2: the operator % of a string is not supported");
  expect_render_error("\n{{ '{:>5}'.format(1) }}",
                      "chat:2: format(): the field \":>5\" is not supported, only a number or a");
  expect_render_error("\n{{ namespace() }}",
                      "chat:2: printing a TemplateNamespace is not supported");
  expect_render_error("{{ [1] | map('abs') }}", "chat:1: printing a generator is not supported");
}

TEST(Errors, OfRenderingNameTheLineOfTheOperation) {
  expect_render_error("\n\n{{ 1 / 0 }}", "chat:3: division by zero");
  expect_render_error("{% macro m() %}\n{{ none + 1 }}{% endmacro %}\n\n{{ m() }}",
                      "chat:2: unsupported operand type(s) for +: 'NoneType' and 'int'");
  expect_render_error("{{ [1,\n2]|join(\n3)\n + 4 }}", "chat:4: unsupported operand");
  expect_render_error("\n{% for a, b in [1] %}{% endfor %}",
                      "chat:2: 'int' object is not iterable");
  expect_render_error("{% set x = [1, 2] %}{% set a, b, c = x %}", "cannot unpack 2 values into 3");
  expect_render_error("\n{{ 'a' < 1 }}",
                      "chat:2: '<' not supported between instances of 'str' and 'int'");
  expect_render_error("{{ {[]: 1} }}", "unhashable type: 'list'");
  expect_render_error("{% set x.y = 1 %}", "non-namespace object", R"({"x": {}})");
  expect_render_error("{{ 'a'.replace(1) }}", "misses the argument");
  expect_render_error("{{ 1|round(method='up') }}", "method must be common, ceil or floor");
}

TEST(Errors, QuoteWhatTheTemplateSays) {
  expect_error([] { Template::parse("{{ x is 'a\n\x1b' y }}", "bad\nname"); }, "bad\\nname:");
  expect_render_error("{{ raise_exception('\\x1b[2J') }}", "\\u001b[2J");
  expect_render_error("{{ x['\\n'].y }}", "has no attribute \"\\n\"", R"({"x": {}})");
}

}  // namespace
}  // namespace heed::jinja
