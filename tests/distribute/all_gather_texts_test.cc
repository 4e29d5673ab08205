#include "heed/distribute/all_gather_texts.h"

#include <gtest/gtest.h>

#include "tests/distribute/group_ranks.h"

namespace heed::distribute {
namespace {

TEST(Texts, OfAllRanksReachEveryRank) {
  const std::vector<std::string> texts{"one", "", std::string("zero \0 byte", 11), "four", "five"};
  for (const int size : {1, 2, 3, 4, 8}) {
    std::vector<int> owners;
    for (size_t i = 0; i < texts.size(); ++i) owners.push_back(static_cast<int>(3 * i + 1) % size);
    run_groups(std::make_shared<LocalMailbox>(size), [&](Group& group) {
      std::vector<std::string> own(texts.size());
      for (size_t i = 0; i < texts.size(); ++i)
        if (owners[i] == group.rank()) own[i] = texts[i];
      all_gather_texts(group, owners, own);
      EXPECT_EQ(own, texts) << "rank " << group.rank() << " of " << size;
    });
  }
}

}  // namespace
}  // namespace heed::distribute
