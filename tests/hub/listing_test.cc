#include "heed/hub/listing.h"

#include <gtest/gtest.h>

#include "heed/hub/needed_files.h"
#include "heed/hub/response_head.h"
#include "tests/base/cost.h"
#include "tests/base/fuzz.h"

namespace heed::hub {
namespace {

const std::string kSha1(40, 'a'), kSha256(64, 'b');

std::string listing(const std::string& files) {
  return fmt::format(R"({{"id": "a/b", "sha": "{}", "siblings": [{}]}})", kSha1, files);
}

std::string entry(const std::string& name, const std::string& size = "12") {
  return fmt::format(R"({{"rfilename": {}, "size": {}, "blobId": "{}"}})",
                     nlohmann::json(name).dump(), size, kSha1);
}

const std::string kLarge = fmt::format(
    R"({{"rfilename": "model.safetensors", "size": 130, "blobId": "{}",
         "lfs": {{"sha256": "{}", "size": 4294967296, "pointerSize": 130}}}})",
    kSha1, kSha256);

TEST(Listing, HasTheSizeAndChecksumOfEachFile) {
  const Listing read = parse_listing(listing(entry("d/config.json") + "," + kLarge), "x");
  EXPECT_EQ(read.commit, kSha1);
  ASSERT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.files.at("d/config.json").size, 12u);
  EXPECT_EQ(read.files.at("d/config.json").checksum, kSha1);
  EXPECT_EQ(read.files.at("model.safetensors").size, uint64_t{1} << 32);
  EXPECT_EQ(read.files.at("model.safetensors").checksum, kSha256);
}

TEST(Listing, LeavesOutFilesOutsideOfTheRepository) {
  std::string files = entry("x");
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "a//x", "", ".", "a\nb", "a\\b"})
    files += "," + entry(name);
  EXPECT_EQ(parse_listing(listing(files), "x").files.size(), 1u);
}

TEST(Listing, IsRefusedWithWhatIsWrong) {
  const auto refused = [](const std::string& json, const std::string& why) {
    expect_error([&] { parse_listing(json, "the list"); }, "the list: " + why);
  };
  refused("[]", "expected an object");
  refused("{}", "sha");
  refused(R"({"sha": "main"})", "sha is \"main\", expected 40 hexadecimal digits");
  refused(fmt::format(R"({{"sha": "../{}"}})", std::string(37, 'a')), "sha is");
  refused(fmt::format(R"({{"sha": "{}"}})", kSha1), "siblings, the list of files, is missing");
  refused(listing("1"), "a file is 1, expected an object");
  refused(listing(R"({"rfilename": "x"})"), "size is missing");
  refused(listing(entry("x", "-1")), "size");
  refused(listing(entry("x", "1152921504606846976")), "size");
  refused(listing(R"({"rfilename": "x", "size": 1, "blobId": "../x"})"), "blobId is \"../x\"");
  refused(listing(R"({"rfilename": "x", "lfs": []})"), "lfs is []");
}

TEST(NeededFiles, OfAnIndexHaveItsFormatAndLieInItsFolder) {
  const TemporaryDirectory folder;
  const auto shards = [&](const std::string& json) {
    write_quickly(folder / "index.json", json);
    return shards_of(folder / "index.json", weight_formats().front());
  };
  EXPECT_EQ(shards(R"({"weight_map": {"a": "2.safetensors", "b": "1.safetensors",
                                      "c": "2.safetensors"}})"),
            (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
  for (const char* shard : {"../x.safetensors", "/x.safetensors", "d/x.safetensors", "x.bin", ""})
    expect_error([&] { shards(fmt::format(R"({{"weight_map": {{"a": "{}"}}}})", shard)); },
                 "is not the name of a .safetensors file in the same folder");
  write_quickly(folder / "index.json", R"({"weight_map": {"a": "2.bin", "b": "1.bin"}})");
  EXPECT_EQ(shards_of(folder / "index.json", weight_formats().back()),
            (std::vector<std::string>{"1.bin", "2.bin"}));
  expect_error([&] { shards("{}"); }, "weight_map is missing");
}

TEST(NeededFiles, OfModulesLieInTheirFolders) {
  const TemporaryDirectory folder;
  const auto settings = [&](const std::string& json, bool weights = false) {
    write_quickly(folder / "modules.json", json);
    return module_files(folder / "modules.json", weights);
  };
  EXPECT_EQ(settings(R"([{"path": ""}, {"path": "1_Pooling"}, {}])"),
            std::vector<std::string>{"1_Pooling/config.json"});
  const std::vector<std::string> with_weights{"2_Dense/config.json", "2_Dense/model.safetensors",
                                              "2_Dense/pytorch_model.bin"};
  EXPECT_EQ(settings(R"([{"path": "2_Dense"}])", true), with_weights);
  expect_error([&] { settings(R"([{"path": "../x"}])"); }, "expected one in the repository");
  expect_error([&] { settings("[1]"); }, "expected an object");
}

TEST(Listing, FuzzAnswersOfTheHub) {
  const std::string whole = listing(entry("config.json") + "," + kLarge + "," + entry("a/b.gguf"));
  fuzz("listing", 20000, [&](uint64_t number, Dice& dice) {
    std::string bytes = whole;
    for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(bytes, dice);
    for (const auto& [file, listed] : parse_listing(bytes, "x").files) {
      EXPECT_EQ(file.find(".."), std::string::npos);
      EXPECT_TRUE(listed.checksum.size() == 40 || listed.checksum.size() == 64);
    }
  });
}

TEST(Listing, FuzzFilesThatNameOthers) {
  const TemporaryDirectory folder;
  const auto attack = [&](const std::string& whole, const auto& read) {
    fuzz("naming files", 3000, [&](uint64_t number, Dice& dice) {
      std::string bytes = whole;
      for (size_t i = mutation_count(number, dice); i > 0; --i) mutate(bytes, dice);
      write_quickly(folder / "file", bytes);
      for (const std::string& file : read(folder / "file"))
        EXPECT_FALSE(file.starts_with('/') || file.find("../") != std::string::npos) << file;
    });
  };
  attack(
      R"({"metadata": {"total_size": 12}, "weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})",
      [](const auto& path) { return shards_of(path, weight_formats().front()); });
  attack(R"([{"idx": 1, "path": "1_Pooling", "type": "x.Pooling"}, {"path": ""}])",
         [](const auto& path) { return module_files(path, true); });
}

TEST(Listing, OfAMegabyteIsReadOrRefusedAtABoundedCost) {
  const auto read = [](const std::string& json) {
    return expect_cheap([&] { parse_listing(json, "x"); });
  };
  EXPECT_NE(read(std::string(kHostileBytes, '[')), "");
  std::string files = entry("x");
  while (files.size() < kHostileBytes - 1000) files += "," + entry(std::to_string(files.size()));
  EXPECT_EQ(read(listing(files)), "");
}

TEST(ResponseHead, ReadsTheFieldsThatMatter) {
  ResponseHead head;
  for (const char* line :
       {"HTTP/1.1 302 Found\r\n", "Retry-After: 9\r\n", "HTTP/1.1 206 Partial Content\r\n",
        "content-LENGTH: 12 \r\n", "Content-Range: bytes 30-41/42\r\n",
        "X-Error-Code: GatedRepo\r\n", "X-Error-Message:no\r\n", "no colon\r\n", "\r\n"})
    read_head_line(head, line);
  EXPECT_EQ(head.status, 206);
  EXPECT_TRUE(head.has_body());
  EXPECT_EQ(head.length, 12u);
  EXPECT_EQ(head.range_begin, 30u);
  EXPECT_EQ(head.retry_after.count(), 0);  // of the answer before
  EXPECT_EQ(head.error_code, "GatedRepo");
  EXPECT_EQ(head.text(), "HTTP status 206 (no)");
}

TEST(ResponseHead, KnowsWhenAUsedUpLimitIsRenewed) {
  const auto seconds = [](const char* limit) {
    ResponseHead head;
    read_head_line(head, limit);
    return head.retry_after.count();
  };
  EXPECT_EQ(seconds("RateLimit: \"api\";r=0;t=55"), 55);
  EXPECT_EQ(seconds("RateLimit: \"api\";r=17;t=55"), 0);
  EXPECT_EQ(seconds("RateLimit: \"api\""), 0);
  EXPECT_EQ(seconds("Retry-After: 99999999999999999999"), 0);
  EXPECT_EQ(seconds("Retry-After: 999999999"), 86400);
}

TEST(ResponseHead, FuzzLines) {
  const std::string lines[] = {"HTTP/1.1 200 OK",
                               "Content-Length: 123",
                               "Retry-After: 12",
                               "Content-Range: bytes 1-2/3",
                               "RateLimit: \"api\";r=0;t=55",
                               "X-Error-Message: why"};
  for (uint64_t number = 0; number < 20000; ++number) {
    Dice dice(number);
    ResponseHead head;
    for (std::string line : lines) {
      mutate(line, dice);
      read_head_line(head, line);
    }
    EXPECT_TRUE(head.status == 0 || (head.status >= 100 && head.status <= 999));
    EXPECT_LE(head.retry_after.count(), 86400);
    EXPECT_EQ(head.text().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace heed::hub
