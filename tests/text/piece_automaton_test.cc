#include "heed/text/piece_automaton.h"

#include <gtest/gtest.h>

#include "heed/text/models/tokenizer_model.h"
#include "tests/base/fuzz.h"

namespace heed::text {
namespace {

using Found = std::vector<std::pair<size_t, int32_t>>;  // bytes, id

/// A few random words of the letters a and b.
std::vector<std::string> random_words(Dice& dice, size_t count, size_t longest) {
  std::vector<std::string> words;
  while (words.size() < count) {
    std::string word;
    for (size_t length = 1 + dice.below(longest); length > 0; --length)
      word += dice.below(2) ? 'a' : 'b';
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

std::vector<PieceAutomaton::Piece> pieces_of(const std::vector<std::string>& words) {
  std::vector<PieceAutomaton::Piece> pieces;
  for (size_t id = 0; id < words.size(); ++id)
    pieces.push_back({words[id], static_cast<int32_t>(id)});
  return pieces;
}

TEST(PieceAutomaton, AgreesWithAPlainSearch) {
  for (uint64_t number = 0; number < 200; ++number) {
    Dice dice(number);
    const std::vector<std::string> words = random_words(dice, 1 + dice.below(12), 6);
    const PieceAutomaton automaton(pieces_of(words));
    const std::string text = random_words(dice, 1, 60).front();
    PieceAutomaton::State state = PieceAutomaton::kStart;
    for (size_t end = 1; end <= text.size(); ++end) {
      state = automaton.next(state, static_cast<uint8_t>(text[end - 1]));
      Found suffixes, expected;
      automaton.for_each_suffix(state, [&](size_t size, int32_t id) {
        suffixes.push_back({size, id});
      });
      for (size_t id = 0; id < words.size(); ++id)
        if (text.substr(0, end).ends_with(words[id]))
          expected.push_back({words[id].size(), static_cast<int32_t>(id)});
      std::sort(expected.rbegin(), expected.rend());
      EXPECT_EQ(suffixes, expected);
    }
    Found prefixes, expected;
    automaton.for_each_prefix(text, [&](size_t size, int32_t id) {
      prefixes.push_back({size, id});
    });
    for (size_t id = 0; id < words.size(); ++id)
      if (text.starts_with(words[id]))
        expected.push_back({words[id].size(), static_cast<int32_t>(id)});
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(prefixes, expected);
  }
}

TEST(PieceAutomaton, BackwardFindsTheLongestPieceThatBeginsAtEachByte) {
  for (uint64_t number = 0; number < 200; ++number) {
    Dice dice(number);
    const std::vector<std::string> words = random_words(dice, 1 + dice.below(12), 6);
    const PieceAutomaton backward = PieceAutomaton::backward(pieces_of(words));
    const std::string text = random_words(dice, 1, 60).front();
    const size_t first = dice.below(text.size());
    using Longest = std::vector<std::tuple<size_t, size_t, int32_t>>;  // begin, bytes, id
    Longest found, expected;
    backward.for_each_longest(text, first, [&](size_t begin, size_t size, int32_t id) {
      found.emplace_back(begin, size, id);
    });
    for (size_t begin = text.size(); begin-- > first;) {
      std::pair<size_t, int32_t> longest;
      for (size_t id = 0; id < words.size(); ++id)
        if (text.substr(begin).starts_with(words[id]))
          longest = std::max(longest, {words[id].size(), static_cast<int32_t>(id)});
      if (longest.first > 0) expected.emplace_back(begin, longest.first, longest.second);
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(PieceAutomaton, LeavesOutEmptyPiecesAndTakesTheFirstOfEqualOnes) {
  const PieceAutomaton automaton({{"", 0}, {"a", 1}, {"a", 2}, {"\xff", 3}});
  Found found;
  const auto add = [&](size_t size, int32_t id) { found.push_back({size, id}); };
  automaton.for_each_suffix(automaton.next(PieceAutomaton::kStart, 'a'), add);
  automaton.for_each_suffix(automaton.next(PieceAutomaton::kStart, 0xff), add);
  automaton.for_each_suffix(automaton.next(PieceAutomaton::kStart, 'b'), add);
  EXPECT_EQ(found, (Found{{1, 1}, {1, 3}}));
  EXPECT_TRUE(PieceAutomaton(std::vector<PieceAutomaton::Piece>{}).empty());
}

TEST(MergesOfScores, AreAllPairsOfPiecesThatMakeAPiece) {
  for (uint64_t number = 0; number < 100; ++number) {
    Dice dice(1000 + number);
    const std::vector<std::string> words = random_words(dice, 25, 6);
    Vocabulary vocabulary;
    std::vector<std::optional<float>> scores;
    for (size_t id = 0; id < words.size(); ++id) {
      vocabulary.add(words[id], static_cast<int32_t>(id));
      scores.push_back(dice.below(5) ? std::optional(-static_cast<float>(id)) : std::nullopt);
    }
    std::vector<std::array<int32_t, 3>> expected, found;
    for (size_t id = 0; id < words.size(); ++id)
      for (size_t cut = 1; scores[id] && cut < words[id].size(); ++cut) {
        const auto left = vocabulary.find(words[id].substr(0, cut));
        const auto right = vocabulary.find(words[id].substr(cut));
        if (left && right) expected.push_back({*left, *right, static_cast<int32_t>(id)});
      }
    for (const BpeMerge& merge : merges_of_scores(vocabulary, scores))
      found.push_back({merge.left, merge.right, merge.result});
    EXPECT_EQ(found, expected);
  }
}

TEST(WordPiece, TakesTheLongestPieceAtEachPlace) {
  for (uint64_t number = 0; number < 200; ++number) {
    Dice dice(2000 + number);
    std::vector<std::string> words = random_words(dice, 10, 4);
    for (size_t i = 0; i < words.size(); i += 2) words[i].insert(0, "##");
    Vocabulary vocabulary, same;
    vocabulary.add("[UNK]", 0);
    for (size_t i = 0; i < words.size(); ++i) {
      vocabulary.add(words[i], static_cast<int32_t>(i + 1));
      same.add(words[i], static_cast<int32_t>(i + 1));
    }
    const std::string word = random_words(dice, 1, 12).front();
    std::vector<int32_t> expected, found;
    for (size_t begin = 0; begin < word.size();) {
      size_t end = word.size();
      std::optional<int32_t> id;
      for (; end > begin; --end)
        if ((id = same.find((begin > 0 ? "##" : "") + word.substr(begin, end - begin)))) break;
      if (!id) {
        expected = {0};
        break;
      }
      expected.push_back(*id);
      begin = end;
    }
    make_word_piece(std::move(vocabulary), {})->tokenize(word, found);
    EXPECT_EQ(found, expected) << word;
  }
}

}  // namespace
}  // namespace heed::text
