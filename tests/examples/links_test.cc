// Checks the documentation's links into the code: every relative link must point to an existing
// file, and if its text names a function or a test, the file must contain it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace heed {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HEED_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (const char* name : {"README.md", "CONTRIBUTING.md"})
    if (fs::exists(kRoot / name)) found.push_back(kRoot / name);
  for (const auto& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

struct Link {
  std::string text;    // as written, "`heed::nn::sinusoids`"
  std::string target;  // without #anchor
};

/// The links of a page to files of the repository, without those in code blocks.
std::vector<Link> relative_links(const std::string& page) {
  static const std::regex fence("```[^`]*```"), link(R"(\[([^\]\[]*)\]\(([^)\s#]+)[^)]*\))");
  const std::string prose = std::regex_replace(page, fence, "");
  std::vector<Link> links;
  for (std::sregex_iterator at(prose.begin(), prose.end(), link), end; at != end; ++at)
    if ((*at)[2].str().find(':') == std::string::npos)
      links.push_back({(*at)[1].str(), (*at)[2].str()});
  return links;
}

/// The string that the target of a link must contain: "(Suite, Name)" for `Suite.Name`, "name" for
/// `a::b::name`, empty for other texts.
std::string required_string(const std::string& text) {
  static const std::regex test(R"(`([A-Z]\w*)\.([A-Z]\w*)`)"), name(R"(`(?:\w+::)*(~?\w+)`)");
  std::smatch match;
  if (std::regex_match(text, match, test))
    return "(" + match[1].str() + ", " + match[2].str() + ")";
  return std::regex_match(text, match, name) ? match[1].str() : "";
}

TEST(Links, PointToFilesThatContainTheNamedSymbol) {
  for (const fs::path& page : pages())
    for (const Link& link : relative_links(read(page))) {
      const fs::path target = page.parent_path() / link.target;
      const std::string where = page.filename().string() + ": [" + link.text + "](" + link.target;
      if (!fs::exists(target)) {
        ADD_FAILURE() << where << "): there is no such file";
        continue;
      }
      const std::string wanted = required_string(link.text);
      EXPECT_TRUE(wanted.empty() || read(target).find(wanted) != std::string::npos)
          << where << "): the file does not contain " << wanted;
    }
}

TEST(Links, AreIgnoredInsideCodeBlocks) {
  const auto links = relative_links(
      "see [`a::f`](x/f.h) and [here](y.md#z), not [there](https://example.org)\n"
      "```\n[code](nowhere)\n```\n[last](z.h)");
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].target, "x/f.h");
  EXPECT_EQ(links[1].target, "y.md");
  EXPECT_EQ(required_string(links[0].text), "f");
  EXPECT_EQ(required_string("`Softmax.RowsSumToOne`"), "(Softmax, RowsSumToOne)");
}

}  // namespace
}  // namespace heed
