#include <atomic>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "http/misbehaviour.hpp"
#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

/// HOLDFAST_ADVERSARIES asks for another number of them.
int number_of_adversaries() {
  const char* text = std::getenv("HOLDFAST_ADVERSARIES");
  return text ? std::atoi(text) : 500;
}

/// Requests to a server that misbehaves and to one that does not. Half of the bad ones keep their
/// connections busy for as long as the test wants; the others come together with the honest ones.
class Crowd : public ProcessorScenario {
 protected:
  std::vector<Request> held_ones() const {
    std::vector<Request> requests;
    for (int i = 0; i < half_; ++i)
      requests.push_back(patient(bad_.url("/held"), callback("held", 0)));
    return requests;
  }
  std::vector<Request> the_others() const {
    std::vector<Request> requests;
    for (int i = 0; i < half_; ++i) {
      auto bad = call(std::to_string(i));
      if (takes_all_the_time(manner(i))) bad.timeout = Millis{3'000};
      requests.push_back(patient(bad_.url(manner(i)), bad));
      if (i < honest_) requests.push_back(patient(good_.url(), callback("honest", 0)));
    }
    return requests;
  }
  std::string manner(int number) const {
    return manners_[static_cast<std::size_t>(number) % manners_.size()];
  }
  std::int64_t told(const std::string& kind) const { return inspector_.count({.kind = kind}); }

  const int half_ = number_of_adversaries() / 2, honest_ = half_ * 4 / 5;
  const std::vector<std::string> manners_ = misbehaviours();
  const std::string bomb_ = gzip_bomb(store_);
  std::atomic<int> port_ = 0, waiting_ = 0;
  HttpServer bad_{[this](const ServedRequest& request) {
    if (request.target != "/held") return misbehave(request.target, bomb_, port_);
    ++waiting_;
    return test::Reply{.bytes = "nonsense", .then = test::Reply::Then::close, .waits = true};
  }};
  HttpServer good_{[](const ServedRequest&) { return answer(200, "honest"); }};

 private:
  Request patient(const std::string& url, Call call) const {
    if (!call.timeout) call.timeout = std::chrono::minutes{5};
    return client_.build(Method::get, url, call);
  }
};

/// No clock says whether that is quick enough: all of the honest ones are answered while half of
/// the adversaries are waited for.
TEST_F(Crowd, HonestServersAreHeardAmongManyAdversaries) {
  port_ = bad_.port();
  auto options = lenient();
  options.capacity = 2 * half_ + honest_;
  options.breaker.failures = 0;  // nobody is to be spared
  client_.enqueue_all(held_ones());
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  constexpr Millis limit = std::chrono::minutes{2};
  EXPECT_TRUE(test::eventually([&] { return waiting_ == half_; }, limit)) << waiting_;
  client_.enqueue_all(the_others());
  EXPECT_TRUE(test::eventually([&] { return told("honest") == honest_; }, limit))
      << told("honest") << " of " << honest_;
  EXPECT_EQ(told("held"), 0);
  bad_.release();
  running.join();
  EXPECT_EQ(told("held"), half_);
  EXPECT_EQ(good_.served(), honest_);
  auto errors = call_back().errors;
  EXPECT_EQ(errors.size(), static_cast<std::size_t>(half_));
  for (int i = 0; i < half_; ++i)
    EXPECT_EQ(to_string(errors[std::to_string(i)].type), to_string(expected_of(manner(i))))
        << manner(i) << ": " << errors[std::to_string(i)].message;
}

}  // namespace
}  // namespace holdfast::http
