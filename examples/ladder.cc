// The ladder from counting to the Transformer: how well does each rung predict the next word of the
// same text? Measured as perplexity on words that no rung has seen: of a perplexity of 7, the next
// word is on average as uncertain as one of 7 equally probable ones.
//
//   ladder [--seconds N] [TEXT]     N seconds for each rung that learns (15); a text of your own,
//   or
//                                   a made-up one whose every story needs a memory
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ladder/counts.h"
#include "ladder/rungs.h"
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
  heed::require(arguments.seconds > 0, "--seconds wants a number above 0");
  return arguments;
}

void print_row(const std::string& rung, double perplexity, int64_t numbers) {
  fmt::print("{:<46}{:>12.2f}{:>14}\n", rung, perplexity, numbers);
  std::fflush(stdout);
}

void count(const std::string& name, size_t n, const ladder::Text& text) {
  const ladder::Counts counts(text.learned(), n, text.vocabulary);
  print_row(name, counts.perplexity(text.held_out()), static_cast<int64_t>(counts.size()));
}

template <typename Rung>
double learn(const std::string& name, const ladder::Text& text, double seconds) {
  Rung rung(text.vocabulary);
  ladder::train(rung, text.learned(), seconds);
  const double perplexity = ladder::perplexity(rung, text.held_out());
  print_row(name, perplexity, rung.parameters.count());
  return perplexity;
}

void climb(const Arguments& arguments) {
  const ladder::Text text = arguments.path.empty()
                                ? ladder::number(ladder::cut(ladder::made_up_text(6000)), 2000)
                                : ladder::read(arguments.path);
  fmt::print(
      "{} words to learn from, {} to be judged by, {} different; {} s for each that learns\n\n",
      text.learned().size(), text.held_out().size(), text.vocabulary, arguments.seconds);
  fmt::print("{:<46}{:>12}{:>14}\n", "the next word is predicted from", "perplexity",
             "numbers kept");
  count("how often it occurs", 1, text);
  count("counts after the last word", 2, text);
  count("counts after the last two words", 3, text);
  count("counts after the last four words", 5, text);
  const double seconds = arguments.seconds;
  const double average = learn<ladder::Average>("the average of the words so far", text, seconds);
  learn<ladder::FixedWeights>("a sum with fixed importances", text, seconds);
  learn<ladder::OneHead>("one attention head", text, seconds);
  const double transformer =
      learn<ladder::SmallTransformer>("a Transformer of two layers", text, seconds);
  fmt::print("\nThe Transformer hesitates among {:.1f} times {} words than the average.\n",
             std::max(average / transformer, transformer / average),
             transformer < average ? "fewer" : "more");
}

}  // namespace

int main(int count, char** words) {
  try {
    climb(parse(count, words));
  } catch (const heed::Error& error) {
    fmt::print(stderr, "ladder: {}\n", error.what());
    return 1;
  }
}
