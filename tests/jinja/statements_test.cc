// Every expected output is what jinja2 gives.
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

TEST(Statements, LoopVariable) {
  expect_all(
      {{"{% for x in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}"
        "{{ loop.last }}{{ loop.length }} {% endfor %}",
        "103TrueFalse3 212FalseFalse3 321FalseTrue3 "},
       {"{% for x in 'abc' %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}",
        "<a>b a<b>c b<c> "},
       {"{% for x in range(6) if x % 2 %}{{ x }}/{{ loop.length }}{{ loop.last }} {% endfor %}",
        "1/3False 3/3False 5/3True "},
       {"{% for x in [] %}a{% else %}b{% endfor %}{% for x in [1] %}a{% else %}b{% endfor %}",
        "ba"},
       {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}", "a1b2"}});
}

TEST(Statements, BreakAndContinue) {
  expect_all(
      {{"{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}"
        "{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
        "0134"},
       // jinja2 takes the "else" when no iteration has reached its end.
       {"{% for x in [1] %}{% break %}{% else %}else{% endfor %}", "else"},
       {"{% for x in [1, 2] %}{% set y %}{% continue %}{% endset %}{{ y }}{% endfor %}|", "|"}});
  expect_parse_error("{% break %}", "chat:1: 'break' outside of a loop");
  expect_parse_error("{% for x in y %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}",
                     "'continue' outside of a loop");
}

TEST(Statements, AssignmentsStayInTheirScope) {
  expect_all(
      {{"{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 %}{{ x }}{% endfor %}{{ x }}",
        "15151"},
       {"{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}"
        "{{ ns.n }}",
        "3"},
       {"{% if true %}{% set x = 2 %}{% endif %}{{ x }}", "2"},
       {"{% set a, (b, c) = 1, [2, 3] %}{{ a }}{{ b }}{{ c }}", "123"},
       {"{% set x %}a{{ 1 }}{% endset %}{{ x }}{% set y | upper %}b{% endset %}{{ y }}", "a1B"},
       {"{% with x = 1, y = 2 %}{{ x + y }}{% set x = 9 %}{% endwith %}[{{ x }}]", "3[]"},
       // A name that a scope assigns later is not looked up outside of it.
       {"{% set c %}[{{ c }}]{% endset %}{{ c }}", "[]"},
       {"{% for i in [1] %}{% if i > 1 %}{% set c = 1 %}{% endif %}{{ c }}{% endfor %}", "C"}},
      R"({"c": "C"})");
}

TEST(Statements, Macros) {
  expect_all(
      {{"{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }} "
        "{{ m() }}",
        "121 123 2"},
       {"{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, x=2) }}", "(1,){'x': 2}"},
       {"{% macro m(x) %}<{{ caller(x) }}>{% endmacro %}{% call(y) m(3) %}{{ y }}!{% endcall %}",
        "<3!>"},
       {"{% macro f(n) %}{{ n }}{% if n %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
        "3210"},
       {"{% macro m() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{% set x = 2 %}{{ m() }}",
        "12"},
       {"{% macro m(a) %}{% endmacro %}{{ m.name }} {{ m.arguments }}", "m ('a',)"}});
  expect_render_error("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
                      "takes not more than 1 argument");
  expect_render_error("{% macro m(a) %}{% endmacro %}{{ m(b=1) }}",
                      "takes no keyword argument \"b\"");
}

TEST(Statements, FilterBlocksAndRaw) {
  expect_all(
      {{"{% filter upper | replace('A', 'x') %}ab{{ 'c' }}{% endfilter %}", "xBC"},
       {"{% raw %}{{ x }}{% if %}{# #}{% endraw %}{# comment {{ x }} #}|", "{{ x }}{% if %}{# #}|"},
       {"{% print 1, 'a' %}", "1a"}});
}

TEST(Statements, GenerationBlocksAreReported) {
  const Rendered rendered = render_all(
      "é{% for m in x %}{% generation %}{{ m }}{% set y = 1 %}{% endgeneration %}|{% endfor %}",
      R"({"x": ["ab", "ü"]})");
  EXPECT_EQ(rendered.text, "éab|ü|");
  EXPECT_EQ(rendered.generations, (std::vector<Span>{{2, 4}, {5, 7}}));
}

TEST(Statements, WhiteSpaceIsTrimmedAsTransformersAsks) {
  expect_all({{"a\n  {% if true %}\n  b\n  {% endif %}\nc", "a\n  b\nc"},
              {"a {%- if true -%} \n b {%- endif %} c", "ab c"},
              {"  {%+ if true +%}\nb{% endif %}", "  \nb"},
              {"{{ 1 }}\n{{- 2 -}}\n 3", "123"},
              {"a\n {# c #}\nb {#- d -#} e", "a\nbe"},
              {"a\r\nb\rc\n", "a\nb\nc"},
              {"  {% raw %}\n a {% endraw %}\nb", "\n a b"}});
}

}  // namespace
}  // namespace heed::jinja
