#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heed/jinja/values/value.h"

/// The syntax tree of a template.
namespace heed::jinja {
struct Builtin;
}

namespace heed::jinja::ast {

struct Expr;
using ExprRef = std::unique_ptr<Expr>;

/// Where a variable lives: in the function `hops` levels outside of the one that runs.
struct Slot {
  int hops = 0, index = 0;
};

enum class Op {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

struct CallArguments {
  std::vector<ExprRef> positional;
  std::vector<std::pair<std::string, ExprRef>> keywords;
  ExprRef star, double_star;  // *args and **kwargs, or null
};

struct Expr {
  enum class Kind {
    constant,      // value
    name,          // name, slot; value: what it is while the variable is missing
    attribute_of,  // name, slot, attribute: the target of {% set name.attribute = ... %}
    tuple,
    list,  // operands
    dict,  // operands: key, value, key, value, ...
    negate,
    plus,
    not_,
    binary,  // ops[0]
    and_,
    or_,
    compare,      // operands[0] ops[0] operands[1] ops[1] ...
    concat,       // ~
    conditional,  // operands: condition, then, else or null
    attribute,    // operands[0].name
    item,         // operands[0][operands[1]]
    slice,        // operands[0][operands[1]:operands[2]:operands[3]], each bound or null
    filter,       // operands[0] | name(arguments); null: the text of a filter block
    test,         // operands[0] is name(arguments)
    call          // operands[0](arguments)
  };

  Kind kind;
  int line;
  int depth = 1;  // levels of nodes below and here
  std::string name = {}, attribute = {};
  Value value = {};
  Slot slot = {};
  std::vector<Op> ops = {};
  std::vector<ExprRef> operands = {};
  CallArguments arguments = {};
  const Builtin* builtin = nullptr;  // of a filter or test; null if there is none of that name
};

struct Statement;
using Body = std::vector<Statement>;

/// What a variable is when its scope is entered.
struct Load {
  enum class From { context, outer, nothing, argument };
  Slot slot;
  From from;
  Slot outer;        // of From::outer
  std::string name;  // of From::context
};
using Scope = std::vector<Load>;

/// What has variables of its own when it runs: the template, a macro, the condition of a loop.
struct Function {
  int n_slots = 0;
};

struct Output {
  Value text;    // of template text
  ExprRef expr;  // or of an expression
};
struct Set {
  ExprRef target, value;
};
struct SetBlock {
  ExprRef target, filter;  // filter may be null
  Body body;
  Scope scope;
};
struct If {
  std::vector<std::pair<ExprRef, Body>> branches;
  Body otherwise;
};
struct For {
  ExprRef target, iterable, condition;  // condition may be null
  Body body, otherwise;
  int loop_slot = -1;  // of the variable "loop", or -1 if the body does not use it
  Scope scope, otherwise_scope, condition_scope;
  ExprRef condition_target;     // the target as a variable of the condition's function
  Function condition_function;  // where the condition is evaluated
};
/// The parameters and the body of a macro or a call block.
struct MacroBody {
  std::string name;  // empty for a call block
  std::vector<std::string> parameters;
  std::vector<ExprRef> targets;   // the parameters as variables
  std::vector<ExprRef> defaults;  // of the last parameters
  Body body;
  Scope scope;
  Function function;
  int caller = -1, kwargs = -1, varargs = -1;  // slots of these variables, or -1 without
  bool explicit_caller = false;                // "caller" is among the parameters
};
struct MacroStatement {
  ExprRef target;
  MacroBody macro;
};
struct CallBlock {
  ExprRef call;
  MacroBody macro;
};
/// {% generation %}: what the assistant wrote.
struct Generation {
  MacroBody macro;
};
struct FilterBlock {
  ExprRef filter;
  Body body;
  Scope scope;
};
struct With {
  std::vector<std::pair<ExprRef, ExprRef>> variables;
  Body body;
  Scope scope;
};
struct Break {};
struct Continue {};

struct Statement {
  int line;
  std::variant<Output, Set, SetBlock, If, For, MacroStatement, CallBlock, Generation, FilterBlock,
               With, Break, Continue>
      node;
};

struct Template {
  Body body;
  Scope scope;
  Function function;
};

}  // namespace heed::jinja::ast
