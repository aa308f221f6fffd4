#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "support/http_server.hpp"

namespace holdfast::test {

/// Takes what is sent to it, or does not.
class CollectorUnderTest {
 public:
  explicit CollectorUnderTest(std::string target = "/v1/traces") : target_{std::move(target)} {}

  std::string url() const { return server_.url(""); }
  int asked() const { return server_.served(); }
  void answer_with(int status) { status_ = status; }

  std::vector<boost::json::object> spans() {
    std::lock_guard lock{mutex_};
    std::vector<boost::json::object> all;
    for (const auto& document : taken_)
      for (const auto& resource : document.at("resourceSpans").as_array())
        for (const auto& scope : resource.at("scopeSpans").as_array())
          for (const auto& span : scope.at("spans").as_array()) all.push_back(span.as_object());
    return all;
  }
  /// Of the last request.
  std::string header(const std::string& name) {
    std::lock_guard lock{mutex_};
    const auto found = headers_.find(name);
    return found == headers_.end() ? "" : found->second;
  }
  std::vector<boost::json::value> documents() {
    std::lock_guard lock{mutex_};
    return taken_;
  }

 private:
  Reply take(const ServedRequest& request) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, target_);
    EXPECT_EQ(request.headers.at("content-type"), "application/json");
    std::lock_guard lock{mutex_};
    headers_ = request.headers;
    if (status_ == 200) taken_.push_back(boost::json::parse(request.body));
    return answer(status_, "{}");
  }

  const std::string target_;
  std::mutex mutex_;
  std::map<std::string, std::string> headers_;
  std::vector<boost::json::value> taken_;
  std::atomic<int> status_ = 200;
  HttpServer server_{[this](const ServedRequest& request) { return take(request); }};
};

inline std::string text(const boost::json::object& object, const char* member) {
  return std::string{object.at(member).as_string()};
}

}  // namespace holdfast::test
