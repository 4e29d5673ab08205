// Hostile templates end with an Error soon, and with little memory.
#include <thread>

#include "tests/base/cost.h"
#include "tests/jinja/rendering.h"

namespace heed::jinja {
namespace {

/// Parses and renders within 64 MB and a second of CPU time. What bounds the time is the number of
/// steps, which takes about 0.1 s on a machine that does nothing else.
void expect_refused(const std::string& source, const std::string& part) {
  SCOPED_TRACE(source.substr(0, 100));
  const std::string text = expect_cheap([&] { render(source); }, 1, 64);
  EXPECT_NE(text.find(part), std::string::npos) << "found: " << text << "\nwanted: " << part;
}

TEST(Limits, LongRangesAndLoops) {
  expect_refused("{{ range(10**9) }}", "more than 100000 items");
  expect_refused("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
                 "steps");
  expect_refused("{{ range(100000)|map('string')|join(',' * 10000) }}", "bytes");
}

TEST(Limits, LargeValues) {
  expect_refused("{{ 'a' * 10**9 }}", "bytes");
  expect_refused("{{ [1] * 10**9 }}", "bytes");
  expect_refused("{{ 'a' * 10**18 }}", "bytes");
  expect_refused("{{ ('{0}' * 100000).format('a' * 100000) }}", "");
  expect_refused("{{ 'a'|indent(10**12, true) }}", "steps");
  expect_refused(
      "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(99) %}"
      "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "bytes");
  expect_refused(
      "{% set ns = namespace(x='a') %}{% for i in range(99) %}"
      "{% set ns.x = ns.x|replace('a', 'aaaaaaaaaaaaaaaa') %}{% endfor %}",
      "");
  expect_refused("{% for i in range(100000) %}{{ 'aaaaaaaaaa' * 1000 }}{% endfor %}", "");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}"
      "{% set ns.x = ns.x + [i] %}{% endfor %}",
      "");
  expect_refused("{% for i in range(100000) %}{% set ns = namespace(a=i) %}{% endfor %}", "");
  // Many small values.
  expect_refused("{{ ('ab ' * 1000000).split()|length }}", "bytes");
  expect_refused(
      "{% set a = range(100000)|map('string')|list %}{% set b = a|map(attribute='upper')|list %}"
      "{% set c = a|map(attribute='upper')|list %}",
      "bytes");
  expect_refused(
      "{% set x = 'é' * 3000000 %}{% for i in range(100000) %}{{ x[i:][0] }}{% endfor %}", "steps");
}

TEST(Limits, DeepTemplates) {
  expect_refused("{{ " + repeated("(", 100000) + repeated(")", 100000) + " }}", "nest too deeply");
  expect_refused("{{ " + repeated("[", 100000) + repeated("]", 100000) + " }}", "nest too deeply");
  expect_refused("{{ " + repeated("- ", 100000) + "1 }}", "nest too deeply");
  expect_refused("{{ " + repeated("not ", 100000) + "1 }}", "nest too deeply");
  expect_refused("{{ 1" + repeated(" + 1", 100000) + " }}", "nest too deeply");
  expect_refused("{{ x" + repeated("|trim", 100000) + " }}", "nest too deeply");
  expect_refused("{{ x" + repeated(".a", 100000) + " }}", "nest too deeply");
  expect_refused("{{ 1" + repeated(" if 1 else 1", 50000) + " }}", "nest too deeply");
  expect_refused(repeated("{% if x %}", 50000), "tags nest too deeply");
  expect_refused(std::string(size_t{2} << 20, 'a'), "at most 1048576");
}

TEST(Limits, DeepRecursionAndValues) {
  expect_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deeper than");
  expect_refused(
      "{% macro m() %}{% if caller %}{% endif %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
      "deeper than");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}"
      "{% set ns.x = [ns.x] %}{% endfor %}",
      "nest deeper");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}"
      "{% set ns.x = ns.x|map('upper') %}{% endfor %}",
      "nest deeper");
  expect_refused(
      "{% set ns = namespace() %}{% for i in range(100000) %}{% for y in [ns.l] %}"
      "{% set ns.l = loop %}{% endfor %}{% endfor %}",
      "more than 100");
  expect_refused(
      "{% set ns = namespace() %}{% set ns.x = [ns] %}{% set o = namespace() %}"
      "{% set o.x = [o] %}{{ ns.x == o.x }}",
      "");
}

TEST(Limits, MacrosThatKeepEachOtherAliveAreTakenApart) {
  EXPECT_EQ(
      render("{% set ns = namespace() %}{% macro f() %}{% set old = ns.g %}{% macro g() %}{{ old }}"
             "{% endmacro %}{% set ns.g = g %}{% endmacro %}"
             "{% for i in range(20000) %}{{ f() }}{% endfor %}ok"),
      "ok");
}

TEST(Limits, AreThoseOfTheCaller) {
  const auto error = [](const std::string& source, const Limits& limits) {
    return error_of([&] { render_all(source, "{}", limits); });
  };
  EXPECT_EQ(error(std::string(100, 'a'), {.output_bytes = 20}),
            "chat:1: the output would take more than 20 bytes");
  EXPECT_EQ(error("{{ [1, 2] }}", {.value_bytes = 8}),
            "chat:1: the values of the template would take more than 8 bytes");
  EXPECT_EQ(error("a{{ 1 + 1 }}", {.steps = 3}), "chat:1: the template takes more than 3 steps");
  EXPECT_EQ(error("{{ [1] }}", {.depth = 1}), "chat:1: the template nests deeper than 1 levels");
}

TEST(Limits, OrdinaryConversationsAreFarBelowThem) {
  std::string messages;
  for (int i = 0; i < 1000; ++i)
    messages += std::string(i ? "," : "") + R"({"role": "user", "content": ")" +
                std::string(2000, 'x') + "\"}";
  const std::string text = render(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ '<|' + "
      "m.role + '|>' }}"
      "{{ m.content | trim }}{% if not loop.last %}{{ '\\n' }}{% endif %}{% endfor %}{{ ns.n }}",
      "{\"messages\": [" + messages + "]}");
  EXPECT_EQ(text.size(), 1000u * 2008 + 999 + 4);
}

TEST(Template, RendersOnSeveralThreads) {
  const Template chat = Template::parse(
      "{% macro m(x) %}{{ x|upper }}{% endmacro %}{% for i in range(200) %}{{ m(a) }}{{ 'const' "
      "}}{% endfor %}",
      "chat");
  const std::string wanted = chat.render({{"a", "b"}}).text;
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& text : found)
    threads.emplace_back([&] { text = chat.render({{"a", "b"}}).text; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : found) EXPECT_EQ(text, wanted);
}

}  // namespace
}  // namespace heed::jinja
