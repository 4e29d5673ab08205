#include "heed/base/split_files.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(SplitFiles, AreAllFilesOfASplitOne) {
  EXPECT_EQ(split_files("d/x-00002-of-00003.gguf"),
            (std::vector<std::string>{"d/x-00001-of-00003.gguf", "d/x-00002-of-00003.gguf",
                                      "d/x-00003-of-00003.gguf"}));
  for (const std::string file : {"x.gguf", "x-00003-of-00002.gguf", "x-00000-of-00002.gguf",
                                 "x-0000a-of-00002.gguf", "x-1-of-2.gguf", "-00001-of-00001.gguf"})
    EXPECT_EQ(split_files(file), std::vector<std::string>{file});
}

}  // namespace
}  // namespace heed
