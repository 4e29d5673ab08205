// Every expected output is what jinja2 gives.
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

constexpr const char* kContext = R"({"s": "Hello world", "t": " \u00a0x y ", "l": [3, 1, 2],
  "r": [{"n": 2, "k": "b"}, {"n": 1, "k": "A"}, {"n": 2, "k": null}], "d": {"b": 1, "A": 2}})";

TEST(Filters, OfStrings) {
  expect_all(
      {{"{{ s|upper }} {{ s|title }} {{ 'aB-cD (eF'|title }} {{ 'äB'|capitalize }}",
        "HELLO WORLD Hello World Ab-Cd (Ef Äb"},
       {"[{{ t|trim }}] [{{ 'xxaxx'|trim('x') }}] {{ 'straße ŉ'|upper }} {{ 'ΟΔΟΣ Σ'|lower }}",
        "[x y] [a] STRASSE ʼN οδος σ"},
       {"{{ s|replace('l', 'L', 2) }} {{ 'ab'|replace('', '-') }}", "HeLLo world -a-b-"},
       {"{{ 'a\n\nb'|indent }}|{{ 'a\nb\n'|indent('> ', true) }}|", "a\n\n    b|> a\n> b\n|"},
       {"{{ '<a href=\"x\">&'|e }} {{ ('<'|e) ~ '<' }} {{ ('<'|safe) + '<' }}",
        "&lt;a href=&#34;x&#34;&gt;&amp; &lt;< <&lt;"},
       {"{{ 'ßa ŉb ᾲγ ᾳδ ﬁ'.title() }} {{ 'ᾷﬃǰ'.upper() }} {{ 'ǆß'.capitalize() }}",
        "Ssa ʼNb Ὰͅγ ᾼδ Fi Α͂ΙFFIJ̌ ǅß"}},
      kContext);
}

TEST(Filters, OfSequences) {
  expect_all(
      {{"{{ l|sort }} {{ l|sort(reverse=true) }} {{ l|min }} {{ l|max }} {{ l|sum }} {{ l|first }} "
        "{{ l|last }}",
        "[1, 2, 3] [3, 2, 1] 1 3 6 3 2"},
       {"{{ ['b', 'A', 'a']|sort }} {{ ['b', 'A']|sort(case_sensitive=true) }} {{ ['a', 'A', "
        "'b']|unique|list }}",
        "['A', 'a', 'b'] ['A', 'b'] ['a', 'b']"},
       {"{{ r|map(attribute='n')|list }} {{ r|selectattr('k')|map(attribute='k')|join('+') }}",
        "[2, 1, 2] b+A"},
       {"{{ r|rejectattr('n', 'equalto', 2)|list }} {{ l|select('gt', 1)|list }} {{ "
        "l|reject('odd')|list }}",
        "[{'n': 1, 'k': 'A'}] [3, 2] [2]"},
       {"{{ d|dictsort }} {{ l|reverse|list }} {{ 'abc'|reverse }}",
        "[('A', 2), ('b', 1)] [2, 1, 3] cba"},
       {"{{ l|join(', ') }} {{ r|sum(attribute='n') }} {{ ['a', 'b']|map('upper')|join }} {{ "
        "d|items|list }}",
        "3, 1, 2 5 AB [('b', 1), ('A', 2)]"}},
      kContext);
}

TEST(Filters, GeneratorsAreReadOnceAndLazily) {
  expect_all({{"{% set g = l|map('string') %}{{ g|list }}{{ g|list }}", "['3', '1', '2'][]"},
              {"{% set g = 5|map('nothing') %}ok", "ok"},
              {"{{ [1, 'a']|map('abs')|first }}", "1"},
              {"{% if []|select %}true{% endif %}", "true"}},
             kContext);
}

TEST(Filters, OfNumbers) {
  expect_all(
      {{"{{ '42'|int }} {{ ' -4_2 '|int }} {{ '3.9'|int }} {{ 'x'|int(7) }} {{ '0x1f'|int(base=16) "
        "}}",
        "42 -42 3 7 31"},
       {"{{ '1e3'|float }} {{ 'x'|float }} {{ none|int }} {{ 3.7|int }}", "1000.0 0.0 0 3"},
       {"{{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 5|round }} {{ 1234|round(-2) }}",
        "2.0 4.0 2.67 5 1200"},
       {"{{ 2.1|round(method='ceil') }} {{ 2.19|round(1, 'floor') }} {{ -3|abs }}", "3.0 2.1 3"}});
}

TEST(Filters, JsonIsPythons) {
  expect_all(
      {{"{{ x|tojson }}", R"({"ä": [1, 2.0, null, true, "\"\\\n\u0001/😀"], "e": [], "o": {}})"},
       {"{{ [1, {'a': 2}]|tojson(indent=2) }}", "[\n  1,\n  {\n    \"a\": 2\n  }\n]"},
       {"{{ x.ä[4]|tojson(ensure_ascii=true) }}", R"("\"\\\n\u0001/\ud83d\ude00")"},
       {"{{ {'b': 1, 'a': 1e20}|tojson(separators=(',', ':'), sort_keys=true) }}",
        R"({"a":1e+20,"b":1})"},
       {"{{ {1: (), none: 1, 2.5: 2, true: 3}|tojson }}", R"({"1": 3, "null": 1, "2.5": 2})"}},
      R"({"x": {"ä": [1, 2.0, null, true, "\"\\\n\u0001/😀"], "e": [], "o": {}}})");
  expect_render_error("{{ y|tojson }}", "Undefined is not JSON serializable");
}

TEST(Filters, DefaultsAndTests) {
  expect_all(
      {{"{{ x|default('a') }} {{ ''|default('b') }}| {{ ''|default('c', true) }} {{ x|d(1) }}",
        "a | c 1"},
       {"{{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ 'a' is in 'abc' }} {{ [] is sequence }} {{ {} "
        "is mapping }}",
        "True True True True True"},
       {"{{ 1 is number }} {{ true is number }} {{ true is integer }} {{ 1.0 is float }} {{ 'a' is "
        "string }}",
        "True True False True True"},
       {"{{ none is none }} {{ 1 is not none }} {{ 'ab' is lower }} {{ 2 is gt 1 }} {{ 1 is "
        "eq(1.0) }}",
        "True True True True True"},
       {"{{ 'x' is filter }} {{ 'trim' is filter }} {{ 'odd' is test }}", "False True True"}});
}

TEST(Methods, OfStrings) {
  expect_all({{"{{ 'a,b,c'.split(',', 1) }} {{ ' a  b '.split() }} {{ 'a b c'.rsplit(' ', 1) }}",
               "['a', 'b,c'] ['a', 'b'] ['a b', 'c']"},
              {"{{ 'xaxa'.lstrip('x') }} {{ 'ab'.startswith(('x', 'a')) }} {{ 'äbä'.find('ä', 1) "
               "}} {{ 'aaa'.count('a') }}",
               "axa True 2 3"},
              {"{{ '{}{} {{}}'.format('a', 2) }} {{ '{1}{x}{0}'.format(1, none, x=[0.5]) }} "
               "{{ ('<{}>'|safe).format('<') }}",
               "a2 {} None[0.5]1 <&lt;>"},
              {"{{ 'a\nb\r\nc'.splitlines() }} {{ 'a-b'.partition('-') }} {{ '12'.isdigit() }}",
               "['a', 'b', 'c'] ('a', '-', 'b') True"},
              {"{{ 'ab'.join(['1', '2']) }} {{ 'foobar'.removeprefix('foo') }} {{ [1, 2, "
               "1].count(1) }} {{ [5, 6].index(6) }}",
               "1ab2 bar 2 1"}});
}

TEST(Functions, RangeDictNamespaceAndTime) {
  expect_all({{"{{ range(5, 0, -2)|list }} {{ dict(a=1, b=2) }} {{ dict([('x', 1)], y=2) }}",
               "[5, 3, 1] {'a': 1, 'b': 2} {'x': 1, 'y': 2}"},
              {"{{ strftime_now('%Y')|length }}", "4"}});
  expect_render_error("a\n{{ raise_exception('roles must\nalternate') }}",
                      "chat:2: roles must\\nalternate");
}

}  // namespace
}  // namespace heed::jinja
