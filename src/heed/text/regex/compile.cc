#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/reader_limits.h"
#include "heed/text/regex/program.h"

namespace heed::text {
namespace {

using Kind = RegexNode::Kind;
using Op = Instruction::Op;

class Compiler {
 public:
  Compiler(const RegexTree& tree, Regex::Program& program, const std::string& where)
      : tree_(tree), program_(program), where_(where), set_numbers_(tree.sets.size()) {}

  void compile(const RegexNode& node);
  uint32_t add(Op op);

 private:
  void compile_set(const RegexNode& node);
  void compile_alternatives(const RegexNode& node, bool lookbehind);
  void compile_lookaround(const RegexNode& node);
  template <typename CompileInner>
  uint32_t compile_nested(Op op, CompileInner&& compile_inner);
  void compile_repeat(const RegexNode& node);
  void compile_loop(const RegexNode& node);
  void compile_copies(const RegexNode& node);
  void compile_optional_copies(const RegexNode& node);

  Instruction& at(uint32_t index) { return program_.code[index]; }
  uint32_t end() const { return static_cast<uint32_t>(program_.code.size()); }
  uint32_t new_memo();
  uint32_t set_number(uint32_t set);
  void spend(size_t size);
  /// Makes all `jumps` lead to the end of the code, where paths that reached one position in
  /// different ways merge.
  void join(const std::vector<uint32_t>& jumps);

  const RegexTree& tree_;
  Regex::Program& program_;
  const std::string& where_;
  std::vector<std::optional<uint32_t>> set_numbers_;  // of the tree's sets in the program
  size_t size_ = 0;
  int nesting_ = 0;
};

void Compiler::spend(size_t size) {
  size_ += size;
  require(size_ <= limits::kMaxProgramSize,
          "{}: the regular expression is too large: more than {} instructions", where_,
          limits::kMaxProgramSize);
}

uint32_t Compiler::add(Op op) {
  spend(1);
  Instruction instruction;
  instruction.op = op;
  program_.code.push_back(instruction);
  return end() - 1;
}

uint32_t Compiler::new_memo() {
  require(program_.memos < limits::kMaxProgramChoices,
          "{}: the regular expression is too large: more than {} repetitions and alternatives",
          where_, limits::kMaxProgramChoices);
  if (nesting_ == 0) program_.outer_memos.push_back(program_.memos);
  return program_.memos++;
}

uint32_t Compiler::set_number(uint32_t set) {
  std::optional<uint32_t>& number = set_numbers_[set];
  if (!number) {
    number = static_cast<uint32_t>(program_.sets.size());
    program_.sets.emplace_back(tree_.sets[set]);
  }
  return *number;
}

void Compiler::join(const std::vector<uint32_t>& jumps) {
  if (jumps.empty()) return;
  const uint32_t memo = new_memo();
  for (const uint32_t jump : jumps) {
    at(jump).target = end();
    at(jump).memo = memo;
  }
}

void Compiler::compile(const RegexNode& node) {
  switch (node.kind) {
    case Kind::empty:
      break;
    case Kind::set:
      compile_set(node);
      break;
    case Kind::sequence:
      for (const RegexNode& child : node.children) compile(child);
      break;
    case Kind::alternatives:
      compile_alternatives(node, false);
      break;
    case Kind::repeat:
      compile_repeat(node);
      break;
    case Kind::anchor: {
      const uint32_t index = add(Op::anchor);
      at(index).anchor = node.anchor;
      break;
    }
    case Kind::lookaround:
      compile_lookaround(node);
      break;
    case Kind::atomic:
      compile_nested(Op::atomic, [&] { compile(node.children[0]); });
      break;
  }
}

void Compiler::compile_set(const RegexNode& node) {
  const auto& ranges = tree_.sets[node.set].ranges();
  const bool is_character = ranges.size() == 1 && ranges[0].first == ranges[0].last;
  const uint32_t index = add(is_character ? Op::character : Op::one);
  if (is_character)
    at(index).character = ranges[0].first;
  else
    at(index).set = set_number(node.set);
}

void Compiler::compile_alternatives(const RegexNode& node, bool lookbehind) {
  std::vector<uint32_t> jumps;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const bool last = i + 1 == node.children.size();
    const uint32_t split = last ? 0 : add(Op::split);
    // The later splits are reached only through the first.
    if (!last && i == 0) at(split).memo = new_memo();
    if (lookbehind) {
      const uint32_t back = add(Op::back);
      at(back).min = *node.children[i].length;
    }
    compile(node.children[i]);
    if (last) break;
    jumps.push_back(add(Op::jump));
    at(split).target = end();
  }
  join(jumps);
}

/// Returns the index of the first instruction.
template <typename CompileInner>
uint32_t Compiler::compile_nested(Op op, CompileInner&& compile_inner) {
  const uint32_t head = add(op);
  ++nesting_;
  compile_inner();
  --nesting_;
  add(Op::accept);
  at(head).target = end();
  return head;
}

void Compiler::compile_lookaround(const RegexNode& node) {
  const uint32_t head = compile_nested(Op::lookaround, [&] {
    if (node.lookbehind)
      compile_alternatives(node.children[0], true);
    else
      compile(node.children[0]);
  });
  at(head).negated = node.negated;
}

void Compiler::compile_repeat(const RegexNode& node) {
  if (node.children[0].kind == Kind::set && node.repetition != Repetition::lazy)
    compile_loop(node);
  else if (node.repetition == Repetition::possessive)
    compile_nested(Op::atomic, [&] { compile_copies(node); });
  else
    compile_copies(node);
}

void Compiler::compile_loop(const RegexNode& node) {
  const uint32_t index = add(Op::loop);
  Instruction& loop = at(index);
  loop.set = set_number(node.children[0].set);
  loop.min = node.min;
  loop.max = node.max;
  loop.repetition = node.repetition;
  if (node.min == node.max) {
    spend(node.max);
    return;
  }
  loop.memo = new_memo();
  const bool limited = node.max != RegexNode::kNoLimit;
  if (limited && node.max - node.min > 1) loop.exit_memo = new_memo();
  spend(limited ? node.max : node.min);
}

void Compiler::compile_copies(const RegexNode& node) {
  const RegexNode& child = node.children[0];
  for (uint32_t i = 0; i < node.min; ++i) compile(child);
  compile_optional_copies(node);
}

void Compiler::compile_optional_copies(const RegexNode& node) {
  const bool endless = node.max == RegexNode::kNoLimit, lazy = node.repetition == Repetition::lazy;
  const uint32_t copies = endless ? 1 : node.max - node.min;
  std::vector<uint32_t> exits;
  for (uint32_t i = 0; i < copies; ++i) {
    const uint32_t split = add(Op::split);
    at(split).memo = new_memo();
    if (lazy) {
      // A split prefers what comes next, which is to leave.
      exits.push_back(add(Op::jump));
      at(split).target = end();
      compile(node.children[0]);
    } else {
      compile(node.children[0]);
    }
    if (endless) at(add(Op::jump)).target = split;
    if (!lazy) exits.push_back(split);
  }
  if (lazy) {
    join(exits);
    return;
  }
  for (const uint32_t split : exits) at(split).target = end();
  // Several splits lead here.
  if (exits.size() > 1) {
    const uint32_t jump = add(Op::jump);
    join({jump});
  }
}

}  // namespace

void compile_regex(const RegexTree& tree, const std::string& where, Regex::Program& program) {
  Compiler compiler(tree, program, where);
  compiler.compile(tree.root);
  compiler.add(Op::accept);
}

}  // namespace heed::text
