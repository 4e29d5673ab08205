// From counting to the Transformer: how well does each language model predict the next word of the
// same text? Measured as perplexity on held-out text: at a perplexity of 7, the next word is on
// average as uncertain as one of 7 equally probable words.
//
//   ladder [--seconds N] [TEXT]
//
//   --seconds N   training time per model in processor seconds (default 15)
//   TEXT          a text file; by default, generated stories that can only be predicted from memory
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ladder/counts.h"
#include "ladder/models.h"
#include "ladder/text.h"
#include "ladder/training.h"

namespace {

struct Arguments {
  double seconds = 15;
  std::string path;
};

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--seconds" && i + 1 < count)
      arguments.seconds = std::strtod(words[++i], nullptr);
    else
      arguments.path = word;
  }
  heed::require(arguments.seconds > 0, "--seconds is {}, expected a number above 0",
                arguments.seconds);
  return arguments;
}

void print_row(const std::string& model, double perplexity, int64_t parameters) {
  fmt::print("{:<46}{:>12.2f}{:>14}\n", model, perplexity, parameters);
  std::fflush(stdout);
}

void count(const std::string& name, size_t n, const ladder::Text& text) {
  const ladder::Counts counts(text.training(), n, text.vocabulary);
  print_row(name, counts.perplexity(text.held_out()), static_cast<int64_t>(counts.size()));
}

template <typename Model>
double train(const std::string& name, const ladder::Text& text, double seconds) {
  Model model(text.vocabulary);
  ladder::train(model, text.training(), seconds);
  const double perplexity = ladder::perplexity(model, text.held_out());
  print_row(name, perplexity, model.parameters.count());
  return perplexity;
}

void compare(const Arguments& arguments) {
  const ladder::Text text =
      arguments.path.empty() ? ladder::number(ladder::split(ladder::generated_stories(6000)), 2000)
                             : ladder::read(arguments.path);
  fmt::print("{} training words, {} held-out words, vocabulary {}; {} s of training per model\n\n",
             text.training().size(), text.held_out().size(), text.vocabulary, arguments.seconds);
  fmt::print("{:<46}{:>12}{:>14}\n", "the next word is predicted from", "perplexity", "parameters");
  count("its own frequency", 1, text);
  count("counts after the last word", 2, text);
  count("counts after the last two words", 3, text);
  count("counts after the last four words", 5, text);
  const double seconds = arguments.seconds;
  const double average = train<ladder::Average>("the average of the words so far", text, seconds);
  train<ladder::FixedWeights>("a weighted average with fixed weights", text, seconds);
  train<ladder::OneHead>("one attention head", text, seconds);
  const double transformer =
      train<ladder::SmallTransformer>("a Transformer with two layers", text, seconds);
  fmt::print("\nThe Transformer's perplexity is {:.1f} times {} than that of the average.\n",
             std::max(average / transformer, transformer / average),
             transformer < average ? "lower" : "higher");
}

}  // namespace

int main(int count, char** words) {
  try {
    compare(parse(count, words));
  } catch (const heed::Error& error) {
    fmt::print(stderr, "ladder: {}\n", error.what());
    return 1;
  }
}
