#include "heed/serve/operations/metrics.h"

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
  metrics.add(call, 200, "mini");
  metrics.add(call, 200, "mini");
  metrics.add(call, 499, "mini");
  const std::string text = metrics.text();
  const std::string labels = "{model=\"mini\",route=\"/v1/embeddings\",status=";
  EXPECT_NE(text.find("heed_requests_total" + labels + "\"200\"} 2\n"), text.npos) << text;
  EXPECT_NE(text.find("heed_requests_total" + labels + "\"499\"} 1\n"), text.npos) << text;
  EXPECT_NE(text.find("heed_request_seconds_count" + labels + "\"200\"} 2\n"), text.npos) << text;
  EXPECT_NE(text.find("heed_cancellations_total{reason=\"client_left\"} 1\n"), text.npos) << text;
}

TEST(Metrics, CountRefusalsByTheirReason) {
  Metrics metrics;
  const auto refuse = [&](const ApiError& error) {
    Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/v1/embeddings");
    call.fail(error);
    metrics.add(call, error.status, "");
  };
  refuse(overloaded("", 1));
  refuse(overloaded("", 1));
  refuse(unknown_model("a"));
  refuse(invalid_request("input", ""));
  refuse(internal_error("not a refusal"));
  metrics.add_refusal(413);
  const std::string text = metrics.text();
  for (const char* line :
       {"{reason=\"server_overloaded\"} 2\n", "{reason=\"model_not_found\"} 1\n",
        "{reason=\"invalid_request_error\"} 1\n", "{reason=\"body_too_large\"} 1\n"})
    EXPECT_NE(text.find(std::string("heed_refusals_total") + line), text.npos) << line << text;
  EXPECT_EQ(text.find("server_error"), text.npos);
}

TEST(Metrics, CountTheRequestsOfNamedKeys) {
  Metrics metrics;
  Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/v1/completions");
  call.key_name = "tests";
  Admission admission({});
  call.enqueue(admission, 5);
  call.part_started(5);
  call.tokens_generated(2);
  metrics.add(call, 200, "m");
  const std::string text = metrics.text();
  EXPECT_NE(text.find("heed_key_requests_total{key=\"tests\",status=\"200\"} 1\n"), text.npos);
  EXPECT_NE(text.find("heed_key_input_tokens_total{key=\"tests\"} 5\n"), text.npos) << text;
  EXPECT_NE(text.find("heed_key_output_tokens_total{key=\"tests\"} 2\n"), text.npos) << text;
}

TEST(Metrics, HaveWhatEndedInAnInterval) {
  Metrics metrics;
  const auto end = [&](bool uses_model, int status) {
    Call call(std::make_shared<HttpTransaction>(HttpRequest{}, 1000, [] {}), "/");
    call.uses_model = uses_model;
    metrics.add(call, status, "");
  };
  for (const int status : {200, 200, 499, 429, 503, 500}) end(true, status);
  end(false, 200);  // a probe
  metrics.add_tokens(7);
  const Metrics::Interval interval = metrics.take_interval();
  EXPECT_EQ(interval.requests, 6);
  EXPECT_EQ(interval.errors, 1);
  EXPECT_EQ(interval.refused, 2);
  EXPECT_EQ(interval.cancelled, 1);
  EXPECT_EQ(interval.output_tokens, 7);
  EXPECT_TRUE(interval.seconds.quantile(0.5).has_value());
  EXPECT_EQ(metrics.take_interval().requests, 0);
}

TEST(Histogram, EstimatesQuantilesBetweenItsBounds) {
  Histogram histogram;
  EXPECT_FALSE(histogram.quantile(0.5).has_value());
  for (int i = 0; i < 10; ++i) histogram.add(0.07);  // of 0.05 to 0.1
  EXPECT_DOUBLE_EQ(*histogram.quantile(0.5), 0.075);
  histogram.add(1000);
  EXPECT_EQ(*histogram.quantile(1), 300);
}

}  // namespace
}  // namespace heed::serve
