// Every expected output is what jinja2 gives.
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

TEST(Expressions, NumbersFollowPython) {
  expect_all(
      {{"{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % -3 }} {{ -7 % 3 }}", "3 -4 -2 2"},
       {"{{ 7 / 2 }} {{ 6 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }}", "3.5 3.0 1024 0.5"},
       {"{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 5.0 % -3 }}", "3.0 0.5 -1.0"},
       {"{{ true + 1 }} {{ 1 == 1.0 }} {{ true == 1 }}", "2 True True"},
       {"{{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e15 }} {{ 1e-5 }} {{ 0.0001 }}",
        "0.30000000000000004 1e+16 1000000000000000.0 1e-05 0.0001"},
       {"{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 2 ** 3 ** 2 }}", "1000 31 5 15 64"},
       {"{{ -2 ** 2 }} {{ 1.5e3 }} {{ 3 - -2 }}", "4 1500.0 5"}});
}

TEST(Expressions, PrecedenceAndChainedComparisons) {
  expect_all({{"{{ 1 + 2 * 3 }}{{ 'x' ~ 2 * 3 }}", "7x6"},
              {"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1 != 2 }}", "True False True"},
              {"{{ not 1 in [2] }} {{ 1 not in [2] }}", "True True"},
              {"{{ 1 or 2 and 3 }} {{ 0 or '' or 'z' }} {{ 1 and 0 }}", "1 z 0"},
              {"{{ 'a' if 0 else 'b' if 1 else 'c' }}[{{ 'a' if 0 }}]", "b[]"},
              {"{{ -1|abs }} {{ (-1)|abs }}", "1 1"}});
}

TEST(Expressions, IntegersAndFloatsCompareExactly) {
  expect_all(
      {{"{{ 9007199254740993 == 9007199254740992.0 }} {{ 9007199254740992.0 < 9007199254740993 }}",
        "False True"},
       {"{{ m < 9223372036854775808.0 }} {{ m >= 9223372036854775808.0 }}", "True False"},
       {"{{ -m - 1 == -9223372036854775808.0 }} {{ -m == -9223372036854775808.0 }}", "True False"},
       {"{{ m > -1e300 }} {{ m > 1e300 }} {{ -m > -1e300 }}", "True False True"},
       {"{{ 2 < 2.5 }} {{ 2.5 < 3 }} {{ -2 < -2.5 }} {{ -3 < -2.5 }} {{ -2.5 == -2 }}",
        "True True False True False"},
       {"{% set n = t|float %}{{ 1 == n }} {{ 1 < n }} {{ n <= 1 }} {{ n == n + 0 }}",
        "False False False False"}},
      R"({"m": 9223372036854775807, "t": "nan"})");
}

TEST(Expressions, SlicesAndIndexesCountCodePoints) {
  expect_all(
      {{"{{ s[1:3] }} {{ s[-1] }} {{ s[::-1] }} {{ s[::2] }} {{ s[9:] }}|", "ßc d dcßä äc |"},
       {"{{ s[-3:-1] }} {{ s|length }} {{ s[1] }}[{{ s[7] }}]", "ßc 4 ß[]"},
       {"{{ l[1:] }} {{ l[:-1] }} {{ l[3:0:-2] }} {{ l[-9:9] }}",
        "[1, 2, 3] [0, 1, 2] [3, 1] [0, 1, 2, 3]"},
       {"{{ range(10)[2:8:3] }} {{ range(5)[-1] }} {{ (1, 2, 3)[1:] }}", "range(2, 8, 3) 4 (2, 3)"},
       {"{{ range(1, 9, 3)[::2] }} {{ range(5)[::-1] }}", "range(1, 10, 6) range(4, -1, -1)"}},
      R"({"s": "äßcd", "l": [0, 1, 2, 3]})");
}

TEST(Expressions, ValuesPrintAsInPython) {
  expect_all({{"{{ v }}", R"([1, 2.0, None, True, 'it', "it's", 'q"\'', {'k': [], 'ä\n': {}}])"},
              {"{{ (1,) }} {{ () }} {{ (1, 'a') }}", "(1,) () (1, 'a')"},
              {"{{ d.items() }} {{ d.keys() }} {{ d.values() }}",
               "dict_items([('a', 1)]) dict_keys(['a']) dict_values([1])"},
              {"{{ range(3) }} {{ none }} {{ true }}", "range(0, 3) None True"},
              {R"({{ ['\x00\u200b\\'] }})", R"(['\x00\u200b\\'])"}},
             R"({"v": [1, 2.0, null, true, "it", "it's", "q\"'", {"k": [], "ä\n": {}}],
                 "d": {"a": 1}})");
}

TEST(Expressions, UndefinedPrintsNothingAndFailsWhenUsed) {
  expect_all(
      {{"[{{ x }}{{ d.x }}{{ l[9] }}]", "[]"},
       {"{{ x is defined }} {{ x == y }} {{ x|length }} {{ x|default('d') }}", "False True 0 d"},
       {"{% for i in x %}a{% else %}none{% endfor %}", "none"}},
      R"({"d": {}, "l": []})");
  expect_render_error("{{ x.y }}", "\"x\" is undefined");
  expect_render_error("{{ d.y.z }}", "'dict object' has no attribute \"y\"", R"({"d": {}})");
  expect_render_error("{{ x + 1 }}", "\"x\" is undefined");
  expect_render_error("{{ x() }}", "\"x\" is undefined");
}

TEST(Expressions, AttributesPreferMethodsAndItemsPreferKeys) {
  expect_all(
      {{"{{ d['items'] }} {{ d.keys()|list }} {{ d.get('z', 3) }}", "5 ['items'] 3"},
       {"{{ d.items()|list }} {{ 'a'.b is defined }} {{ d['keys'] is callable }}",
        "[('items', 5)] False True"},
       {"{% for k, v in {1: 2}.items() if v %}{{ loop.nextitem is defined }}{% endfor %}", "False"},
       {"{{ [[1, 2]][0].1 }} {{ d.append is defined }}", "2 False"}},
      R"({"d": {"items": 5}})");
}

TEST(Expressions, TheSandboxRefusesWhatChangesValues) {
  expect_render_error("{{ [].append(1) }}",
                      "access to attribute \"append\" of 'list' object is unsafe");
  expect_render_error("{{ d.update(a=1) }}", "unsafe", R"({"d": {}})");
  expect_render_error("{{ ''.__class__() }}", "unsafe");
  expect_render_error("{{ 'a'.encode() }}", "str.encode is not supported");
}

TEST(Expressions, IntegersBeyond64BitsAreRefused) {
  expect_render_error("{{ 9223372036854775807 + 1 }}", "64 bits");
  expect_render_error("{{ 2 ** 63 }}", "64 bits");
  expect_render_error("{{ -(-9223372036854775807 - 1) }}", "64 bits");
  expect_render_error("{{ '99999999999999999999'|int }}", "64 bits");
  expect_render_error("{{ x }}", "64 bits", R"({"x": 18446744073709551615})");
  expect_parse_error("{{ 9223372036854775808 }}", "chat:1: \"9223372036854775808\" does not fit");
}

TEST(Expressions, StringLiteralsHavePythonsEscapes) {
  expect_all({{R"({{ 'a\tb\\\'\x41\u00e4\101\q' }})", "a\tb\\'AäA\\q"},
              {R"({{ "x" 'y' "z" }})", "xyz"},
              {"{{ 'ä\\ä' }}", "ä\\xe4"}});
  expect_parse_error(R"({{ '\x4' }})", "hexadecimal");
  expect_parse_error(R"({{ '\ud800' }})", "not a character");
}

}  // namespace
}  // namespace heed::jinja
