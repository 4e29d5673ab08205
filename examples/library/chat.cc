// A conversation: each line of standard input is a message, and its answer is printed while it is
// generated. Ctrl-D ends it.
#include <heed/heed.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    heed::Conversation conversation(heed::Model::load(argv[1]));
    conversation.options.generate = {.max_new_tokens = 200, .temperature = 0.7f, .seed = 7};
    conversation.messages.push_back({.role = "system", .content = "Answer briefly."});
    for (std::string line; std::getline(std::cin, line);) {
      conversation.messages.push_back({.role = "user", .content = line});
      const auto outcome = conversation.answer(
          [](const heed::ChatAnswer& part) { std::cout << part.content << std::flush; });
      if (outcome == heed::Conversation::Outcome::length) std::cout << " [...]";
      std::cout << '\n';
    }
    return 0;
  } catch (const heed::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
