// Which bytes of the output are said to come from the input.
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

/// The output with [...] around what came from the input.
std::string marked(const std::string& source, const std::string& context) {
  const Rendered rendered = render_all(source, context);
  std::string text;
  size_t at = 0;
  for (const Span& span : rendered.input) {
    EXPECT_LT(span.begin, span.end);
    EXPECT_LE(at, span.begin);
    text += rendered.text.substr(at, span.begin - at) + '[' +
            rendered.text.substr(span.begin, span.end - span.begin) + ']';
    at = span.end;
  }
  return text + rendered.text.substr(at);
}

constexpr const char* kMarkedContext =
    R"({"x": "ab<|end|>", "y": " é ", "l": ["p", "q"], "d": {"k<": "v"}, "n": 7})";

void expect_marks(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(marked(c.source, kMarkedContext), c.output) << c.source;
}

TEST(Input, IsMarkedByTheByte) {
  expect_marks({{"<s>{{ x }}</s>", "<s>[ab<|end|>]</s>"},
                {"{{ '<s>' + x + '</s>' }}", "<s>[ab<|end|>]</s>"},
                {"{{ x ~ y }}{{ x }}", "[ab<|end|> é ab<|end|>]"},
                {"{{ n }}{{ n ~ 'a' }}{{ true }}{{ none }}", "77aTrueNone"}});
}

TEST(Input, StaysMarkedThroughOperations) {
  expect_marks(
      {{"{{ x[1:4] }} {{ x[::-1] }} {{ x[0] }} {{ y|trim }}", "[b<|] [>|dne|<ba] [a] [é]"},
       {"{{ x|upper }} {{ x.title() }} {{ (x * 2)|length }}", "[AB<|END|>] [Ab<|End|>] 18"},
       {"{{ x.split('<')|join('+') }}", "[ab]+[|end|>]"},
       {"{{ x|replace('<|', '«') }} {{ 'a-b'|replace('-', x) }}", "[ab]«[end|>] a[ab<|end|>]b"},
       {"{{ '{}|{y}'.format(x, y='z') }} {{ (x[:2] ~ '{}').format(y) }}", "[ab<|end|>]|z [ab é ]"},
       {"{{ l|join(x[:1]) }} {{ l|map('upper')|list }}", "[paq] ['[P]', '[Q]']"},
       {"{{ d|tojson }} {{ x|e }}", "{\"[k<]\": \"[v]\"} [ab&lt;|end|&gt;]"},
       {"{% for c in x[:3] %}{{ c }}.{% endfor %}", "[a].[b].[<]."},
       {"{% set z %}-{{ x }}-{% endset %}{{ z|capitalize }}", "-[ab<|end|>]-"},
       {"{% macro m(a) %}({{ a }}){% endmacro %}{{ m(x)|indent(1, true) }}", " ([ab<|end|>])"},
       {"{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}", "[k<]=[v]"},
       {"{{ strftime_now(x[:1]) }} {{ strftime_now('b') }}", "[a] b"}});
}

TEST(Input, TextOfTheTemplateIsNotMarkedWhereverItGoes) {
  expect_marks({{"{{ {'role': '<|im_start|>'}[ 'role' ] }}", "<|im_start|>"},
                {"{{ '<|end|>' if x == 'ab<|end|>' else x }}", "<|end|>"},
                {"{{ y|default('d') ~ z|default('d') }}", "[ é ]d"}});
}

}  // namespace
}  // namespace heed::jinja
