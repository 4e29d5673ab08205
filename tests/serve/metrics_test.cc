#include "heed/serve/metrics.h"

#include <gtest/gtest.h>

namespace heed::serve {
namespace {

TEST(Histogram, CountsWhatIsAtMostEachBound) {
  Histogram histogram;
  for (const double seconds : {0.0005, 0.001, 0.0011, 0.3, 1000.0}) histogram.add(seconds);
  std::string text;
  histogram.print(text, "h", metric_labels({{"model", "a"}}));
  EXPECT_NE(text.find("h_bucket{model=\"a\",le=\"0.001\"} 2\n"), text.npos) << text;
  EXPECT_NE(text.find("h_bucket{model=\"a\",le=\"0.0025\"} 3\n"), text.npos) << text;
  EXPECT_NE(text.find("h_bucket{model=\"a\",le=\"0.5\"} 4\n"), text.npos) << text;
  EXPECT_NE(text.find("h_bucket{model=\"a\",le=\"+Inf\"} 5\n"), text.npos) << text;
  EXPECT_NE(text.find("h_count{model=\"a\"} 5\n"), text.npos) << text;
}

TEST(Metrics, EscapeTheNamesOfModels) {
  EXPECT_EQ(metric_labels({{"model", "a\"b\\c\nd"}}), "{model=\"a\\\"b\\\\c\\nd\"}");
  EXPECT_EQ(metric_labels({}), "");
}

TEST(Metrics, CountCallsByModelRouteAndStatus) {
  Metrics metrics;
  Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/v1/embeddings");
  call.set_model("mini");
  metrics.add(call, 200);
  metrics.add(call, 200);
  metrics.add(call, 499);
  const std::string text = metrics.text();
  const std::string labels = "{model=\"mini\",route=\"/v1/embeddings\",status=";
  EXPECT_NE(text.find("heed_requests_total" + labels + "\"200\"} 2\n"), text.npos) << text;
  EXPECT_NE(text.find("heed_requests_total" + labels + "\"499\"} 1\n"), text.npos) << text;
}

}  // namespace
}  // namespace heed::serve
