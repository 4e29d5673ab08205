#include "heed/serve/operations/trace_context.h"

#include <gtest/gtest.h>

#include <string>

namespace heed::serve {
namespace {

HttpRequest traced(const std::string& header) {
  HttpRequest request;
  request.headers.emplace_back("traceparent", header);
  return request;
}

TEST(TraceContext, ReadsTheIdsOfAHeader) {
  const HttpRequest request = traced("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  const auto trace = trace_context_of(request);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(trace->parent_id, "b7ad6b7169203331");
  EXPECT_TRUE(
      trace_context_of(traced("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later")));
}

TEST(TraceContext, LeavesOutWhatIsMalformed) {
  EXPECT_FALSE(trace_context_of({}));
  for (const char* header : {"", "00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                             "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                             "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                             "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later",
                             "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                             "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-a b"})
    EXPECT_FALSE(trace_context_of(traced(header))) << header;
}

}  // namespace
}  // namespace heed::serve
