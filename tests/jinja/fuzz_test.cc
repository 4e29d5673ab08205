// Damages templates, parses and renders them.
#include "tests/base/fuzz.h"

#include "heed/base/utf8.h"
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

constexpr uint64_t kAttempts = 4000;

const std::vector<std::string> kTemplates{
    R"({%- macro field(name, type='string', items=none) -%}
{{ name }}: {% if type == 'array' %}{{ field('item', items.type)|indent(2) }}{% else %}{{ type }}{% endif %}
{%- endmacro -%}
{% set ns = namespace(system='', count=0) %}{% for m in messages if m.role == 'system' %}
{% set ns.system = ns.system ~ m.content|trim %}{% endfor %}
{{ '<|system|>' + ns.system[:20] }}{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}
{{ loop.index0 ~ m['role'] ~ ': ' }}{% generation %}{{ m.content.split('.')[-1] or (m|tojson(indent=1)) }}{% endgeneration %}
{% set ns.count = ns.count + m.content|length %}{% else %}{{ raise_exception('none') }}{% endfor %})",
    R"({% filter upper %}{{ (x[:1] + [1, 2.5])[::-1]|sort|unique|join(', ') }}{% endfilter %}{# c #}{% raw %}{{ }}{% endraw %}
{% macro twice(n) %}{{ caller(n) ~ caller(n + 1) }}{% endmacro %}{% call(a) twice(3) %}{{ a ** 2 // 3 % 7 }}{% endcall %}{{ '{}|{}'.format(y, x) }}
{% with q = d.items()|list %}{{ q|map('first')|list ~ q|map('last')|list }}{% endwith %}{{ x is iterable and y not in x }}
{{ messages|map(attribute='role')|map('length')|sum }}{{ 'ÄΣ'.lower()|title }}{{ dict(a=y)|dictsort }})"};

/// Tokens that lead further than bytes do.
const std::vector<std::string> kPieces{
    "{% endif %}", "{{",       "}}",     "%}",          "|map('x')",   "loop",
    "ns.x",        "caller()", "[::-1]", "**",          "|tojson",     "namespace",
    "messages",    "10**18",   "\"",     "{% set x = ", "|sort",       "range(99999)",
    "not ",        " is in ",  "[",      "(",           "{% break %}", "'{0}{a}'.format(x, a=9)"};

TEST(FuzzTemplate, IsRenderedOrRefused) {
  const auto context = nlohmann::ordered_json::parse(
      R"({"x": [3, "a", "ü😀"], "y": 2.5, "d": {"k": null, "l": [1]}, "messages": [{"role": "system",
          "content": "Be. brief "}, {"role": "user", "content": "Hi <|x|>."}, {"role": "user", "content": ""}]})");
  const Limits limits{.steps = 20000, .output_bytes = 1 << 20, .value_bytes = 1 << 20};
  for (const std::string& whole : kTemplates) {
    fuzz("template", kAttempts, [&](uint64_t number, Dice& dice) {
      std::string source = whole;
      for (size_t i = mutation_count(number, dice); i > 0; --i) {
        if (dice.below(2))
          source.insert(dice.below(source.size() + 1), kPieces[dice.below(kPieces.size())]);
        else
          mutate(source, dice);
      }
      const Rendered rendered = Template::parse(source, "chat").render(context, limits);
      EXPECT_TRUE(is_valid_utf8(rendered.text));
      for (const Span& span : rendered.input) {
        EXPECT_LT(span.begin, span.end);
        EXPECT_LE(span.end, rendered.text.size());
      }
    });
  }
}

}  // namespace
}  // namespace heed::jinja
