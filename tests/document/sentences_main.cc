// Answers the judge of sentences (tests/judges/README.md): splits standard input, in the language
// of the first argument, and prints the first byte and the one behind the last of each sentence.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "heed/document/sentences/sentence_splitter.h"

int main(int argc, char** argv) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const heed::document::SentenceSplitter splitter(argc > 1 ? argv[1] : "");
  for (const heed::document::ByteRange& sentence : splitter.split(text))
    std::cout << fmt::format("{} {}\n", sentence.begin, sentence.end);
}
