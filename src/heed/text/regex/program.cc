#include "heed/text/regex/program.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Kind = RegexNode::Kind;
using Op = Instruction::Op;

/// Turns a tree into a program.
class Compiler {
 public:
  Compiler(Regex::Program& program, const std::string& where)
      : code_(program.code), sets_(program.sets), memories_(program.memories), where_(where) {}

  void compile(const RegexNode& node);
  uint32_t add(Op op);

 private:
  void compile_repeat(const RegexNode& node);
  void compile_alternatives(const RegexNode& node, bool behind);
  void compile_nested(const RegexNode& node);

  static constexpr size_t kLargest = 20000;
  std::vector<Instruction>& code_;
  std::vector<CharSet>& sets_;
  uint32_t& memories_;
  const std::string& where_;
};

uint32_t Compiler::add(Op op) {
  require(code_.size() < kLargest, "{}: the regular expression is too large", where_);
  Instruction instruction;
  instruction.op = op;
  if (op == Op::split) instruction.memory = memories_++;
  code_.push_back(instruction);
  return static_cast<uint32_t>(code_.size() - 1);
}

void Compiler::compile(const RegexNode& node) {
  switch (node.kind) {
    case Kind::empty:
      break;
    case Kind::set: {
      const uint32_t at = add(Op::one);
      code_[at].set = static_cast<uint32_t>(sets_.size());
      sets_.emplace_back(node.set);
      break;
    }
    case Kind::sequence:
      for (const RegexNode& child : node.children) compile(child);
      break;
    case Kind::alternatives:
      compile_alternatives(node, false);
      break;
    case Kind::repeat:
      compile_repeat(node);
      break;
    case Kind::place:
      code_[add(Op::place)].place = node.place;
      break;
    case Kind::look:
    case Kind::atomic:
      compile_nested(node);
      break;
  }
}

void Compiler::compile_alternatives(const RegexNode& node, bool behind) {
  std::vector<uint32_t> jumps;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const bool last = i + 1 == node.children.size();
    const uint32_t split = last ? 0 : add(Op::split);
    if (behind) code_[add(Op::back)].least = *fixed_length(node.children[i]);
    compile(node.children[i]);
    if (last) break;
    jumps.push_back(add(Op::jump));
    code_[split].target = static_cast<uint32_t>(code_.size());
  }
  for (const uint32_t jump : jumps) code_[jump].target = static_cast<uint32_t>(code_.size());
}

void Compiler::compile_nested(const RegexNode& node) {
  const bool is_look = node.kind == Kind::look;
  const uint32_t head = add(is_look ? Op::look : Op::atomic);
  code_[head].negated = node.negated;
  if (node.behind)
    compile_alternatives(node.children[0], true);
  else
    compile(node.children[0]);
  add(Op::accept);
  code_[head].target = static_cast<uint32_t>(code_.size());
}

void Compiler::compile_repeat(const RegexNode& node) {
  const RegexNode& child = node.children[0];
  if (child.kind == Kind::set) {
    const uint32_t at = add(Op::loop);
    code_[at].set = static_cast<uint32_t>(sets_.size());
    code_[at].least = node.least;
    code_[at].most = node.most;
    code_[at].repetition = node.repetition;
    if (node.most == RegexNode::kNoLimit && node.repetition != Repetition::lazy)
      code_[at].memory = memories_++;
    sets_.emplace_back(child.set);
    return;
  }
  if (node.repetition == Repetition::possessive) {
    RegexNode greedy = node, atomic;
    greedy.repetition = Repetition::greedy;
    atomic.kind = Kind::atomic;
    atomic.children.push_back(std::move(greedy));
    compile_nested(atomic);
    return;
  }
  for (uint32_t i = 0; i < node.least; ++i) compile(child);
  const bool endless = node.most == RegexNode::kNoLimit, lazy = node.repetition == Repetition::lazy;
  const uint32_t optional = endless ? 1 : node.most - node.least;
  std::vector<uint32_t> exits;
  for (uint32_t i = 0; i < optional; ++i) {
    const uint32_t split = add(Op::split);
    if (lazy) {
      // A split prefers what comes next, which is to leave.
      exits.push_back(add(Op::jump));
      code_[split].target = static_cast<uint32_t>(code_.size());
    } else {
      exits.push_back(split);
    }
    compile(child);
    if (endless) code_[add(Op::jump)].target = split;
  }
  for (const uint32_t exit : exits) code_[exit].target = static_cast<uint32_t>(code_.size());
}

}  // namespace

Regex::Regex(std::string_view pattern, const std::string& where)
    : Regex(compiled(parse_regex(pattern, where), where)) {}

std::shared_ptr<const Regex::Program> Regex::compiled(const RegexNode& node,
                                                      const std::string& where) {
  auto program = std::make_shared<Program>();
  Compiler compiler(*program, where);
  compiler.compile(node);
  compiler.add(Op::accept);
  return program;
}

Regex::Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

Regex Regex::literal(std::string_view text) {
  RegexNode node;
  node.kind = Kind::sequence;
  for_each_code_point(text, [&](const CodePoint& point, std::string_view) {
    RegexNode one;
    one.kind = Kind::set;
    one.set.add(point.value, point.value);
    node.children.push_back(std::move(one));
  });
  return Regex(compiled(node, "a text to be found"));
}

std::vector<TextSpan> Regex::find_all(std::string_view text) const {
  return Matcher(*program_, text).find_all();
}

}  // namespace heed::text
