#include <heed/tokenizer.h>
#include <iostream>

int main(int, char** argv) {
  const auto tokenizer = heed::Tokenizer::load(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    const heed::Encoding encoding = tokenizer.encode_with_offsets(line);
    for (size_t i = 0; i < encoding.ids.size(); ++i)
      std::cout << (i > 0 ? " " : "") << encoding.ids[i] << ':' << encoding.offsets[i].begin << '-'
                << encoding.offsets[i].end;
    std::cout << '\n';
  }
}
