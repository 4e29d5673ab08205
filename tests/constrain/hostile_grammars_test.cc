// Regular expressions and grammars that were written to take exponential time or memory, or a stack
// without bound: each is compiled, or refused, in little time and memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/constrain/matcher.h"
#include "tests/base/cost.h"

namespace heed::constrain {
namespace {

using Compile = std::shared_ptr<const Constraint> (*)(std::string_view);

std::string repeated(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string chain_of_rules(size_t count, std::string_view before, std::string_view behind) {
  std::string grammar = "root ::= r0\n";
  for (size_t i = 0; i < count; ++i) {
    grammar += fmt::format("r{} ::= {}r{}{}\n", i, before, (i + 1) % count, behind);
  }
  return grammar;
}

// Compiles a program and uses it, unless it is refused. The limits are far above what the slowest
// takes on an idle machine.
void expect_cheap_program(Compile compile_text, const std::string& source) {
  SCOPED_TRACE(source.substr(0, 60));
  expect_cheap(
      [&] {
        Matcher matcher(compile_text(source),
                        Vocabulary::of({"a", "aaaa", "b", "abcde", "xy", "&"}, {}));
        std::vector<uint64_t> mask(1);
        for (int i = 0; i < 50 && matcher.accept_bytes("a") == 1; ++i) matcher.mask(mask);
      },
      5, 64);
}

std::shared_ptr<const Constraint> compile_pattern_alone(std::string_view pattern) {
  return compile_regex(pattern, RegexDialect::python);
}

TEST(HostileRegexes, AreCompiledOrRefusedCheaply) {
  for (const std::string& pattern : std::vector<std::string>{
           "(a|a)*{1000}{1000}",
           "(a{1000}){1000}{1000}{1000}",
           repeated("(", 190) + "a" + repeated(")*", 190),
           "(a?){5000}a{5000}",
           "((a?){100}){100}",
           "(a|aa|aaa){0,100000}",
           repeated("(", 60000),
           repeated("a", 60000),
           repeated("(?!", 150) + "a" + repeated(")", 150),
           repeated(".*", 3000),
           "(.*a.{50}){20}",
           ".*(.{1000}|.{1001}b){1000}",
           "\\w{1000}(?!.)\\w",
           "((\\w|\\d|\\s)*\\W(?!\\w)){30}",
           "((a|b)*a(a|b){20}){1,100}&",
           "(?=.*a.{30})(?=.*b.{30})(?=.*c.{30})(?!.*d.{30}).*e.{30}",
           "(x+x+)+y",
           repeated("\\p{L}", 10000),
           "(?i)" + repeated("k", 30000),
           repeated("(?=.*a.{9})", 500) + ".*",
           "(?=((aa){7})*$)(?=((aa){11})*$)(?=((aa){13})*$)(?=((aa){17})*$)a(aa)*",
       }) {
    expect_cheap_program(compile_pattern_alone, pattern);
  }
}

TEST(HostileGrammars, AreCompiledOrRefusedCheaply) {
  for (const std::string& grammar : std::vector<std::string>{
           "root ::= " + repeated("(", 190) + "\"a\"" + repeated(")*", 190),
           "root ::= root root | \"a\" |",
           "root ::= " + repeated("\"a\"? ", 20000),
           "root ::= " + repeated("(\"a\" | ", 190) + "root" + repeated(")", 190),
           "root ::= (root{100}){100} | \"a\"",
           "root ::= ((\"a\"{0,1000}){0,1000} root){0,10000} \"b\"",
           chain_of_rules(20000, "", " | \"a\""),
           chain_of_rules(20000, "\"a\" ", " | \"a\""),
           chain_of_rules(3000, "\"a\"? ", " \"b\" | \"a\""),
           "root ::= s s | b\ns ::= root root |\nb ::= b? \"a\" s",
           "root ::= root root | a\na ::= \"a\"{0,3} | (a a){1,100}",
           chain_of_rules(100000, "\"a\"? ", " \"b\" | \"a\""),
           chain_of_rules(100000, "", " \"b\" | \"a\""),
           "root ::= \"" + repeated("ab", 500000) + "\"",
           "root ::= [" + repeated("zyxwvutsrqponmlkjihgfedcba", 20000) + "]",
       }) {
    expect_cheap_program(compile_gbnf, grammar);
  }
}

}  // namespace
}  // namespace heed::constrain
