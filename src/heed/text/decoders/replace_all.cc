#include "heed/text/decoders/replace_all.h"

#include <utility>

namespace heed::text {

void replace_all(std::string& text, std::string_view wanted, std::string_view with) {
  size_t found = wanted.empty() ? std::string::npos : text.find(wanted);
  if (found == std::string::npos) return;
  std::string result;
  size_t position = 0;
  for (; found != std::string::npos; found = text.find(wanted, position)) {
    result.append(text, position, found - position);
    result += with;
    position = found + wanted.size();
  }
  result.append(text, position);
  text = std::move(result);
}

void clean_up(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [wanted, with] : kChanges) replace_all(text, wanted, with);
}

}  // namespace heed::text
