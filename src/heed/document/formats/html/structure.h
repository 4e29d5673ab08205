#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/document/formats/html/tokens.h"

namespace heed::document {

/// Follows the tree construction of the HTML standard far enough to know where inline tags may move
/// within their text without another tree: where every element is closed by its own end tag, so
/// that no browser opens formatting elements again on its own. What it does not follow exactly,
/// such as <b> that is closed by the end of its paragraph, ends the certainty for the rest of the
/// document.
class HtmlStructure {
 public:
  /// A tag, in the order of the document.
  void read(const HtmlToken& token);

  /// Whether tags may move here.
  bool is_certain() const;
  /// Within <svg> or <math>.
  bool is_foreign() const { return region_ == "svg" || region_ == "math"; }
  /// Within an element whose tags stay where they are, though certainty may come back behind it:
  /// <svg>, <select>, <noscript>, <object>, <template> and the like.
  bool is_in_region() const { return !region_.empty(); }

 private:
  struct OpenElement {
    std::string name;
    std::string section = {};  // of a table: "thead" and the like
  };

  void start(const HtmlToken& token);
  void end(const std::string& name);
  void start_region(const HtmlToken& token);
  void read_in_region(const HtmlToken& token);
  void start_item(std::string_view name);
  void start_table_part(const std::string& name);
  void end_table_part(const std::string& name);
  void end_form();
  void end_other(const std::string& name);
  void end_of_tag_that_closes_p(const std::string& name);

  void push(std::string_view name);
  void pop();
  bool top_is(std::string_view name) const { return !open_.empty() && open_.back().name == name; }
  bool has_open(const std::string& name) const;
  /// The place of the innermost open element with one of `names`, unless one of `borders` is
  /// inside.
  size_t find_open(std::span<const std::string_view> names,
                   std::span<const std::string_view> borders) const;
  size_t find_open(std::string_view name, std::span<const std::string_view> borders) const;
  /// Closes the elements from `place` on. Formatting elements that are closed so would be opened
  /// again.
  void close_from(size_t place);
  void close_from_cell(size_t place);
  void close_p();

  bool certain_ = true;
  bool standards_mode_ = false;
  bool has_form_ = false;
  std::vector<OpenElement> open_;
  std::unordered_map<std::string, int> open_count_;
  std::string region_;  // the outermost such element
  int region_depth_ = 0;
  std::vector<std::string> open_in_region_;  // of <noscript>
};

}  // namespace heed::document
