#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::jinja {

/// A token, as jinja2's lexer gives them after the removal of white space and comments.
struct Token {
  enum class Kind {
    text,            // outside of tags
    variable_begin,  // {{
    variable_end,
    block_begin,  // {%
    block_end,
    name,
    string,
    integer,
    real,
    op,
    end
  };

  Kind kind = Kind::end;
  int line = 1;
  std::string text = {};  // of a string: what it stands for
  int64_t integer = 0;
  double real = 0;

  bool is_op(std::string_view op) const { return kind == Kind::op && text == op; }
  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

/// The tokens of a template, the last of kind end. As transformers configures jinja2: a line end
/// after a block or a comment is removed (trim_blocks), white space between the beginning of a line
/// and a block too (lstrip_blocks). Throws Error with name and line.
std::vector<Token> tokenize(std::string_view source, const std::string& name);

}  // namespace heed::jinja
