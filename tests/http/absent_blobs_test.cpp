// Blobs that cannot be reached, or that refuse: what becomes of requests and answers then.

#include <atomic>
#include <set>

#include <fmt/format.h>

#include "http/processor_scenario.hpp"
#include "support/hindered_blobs.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

test::Reply large(const ServedRequest& request) {
  return answer(request.target == "/404" ? 404 : 200, std::string(100'000, 'x'));
}

class AbsentBlobs : public ProcessorScenario {
 protected:
  std::shared_ptr<BlobStore> blobs() const {
    return open_blobs("dir:" + (store_.folder() / "blobs").string());
  }
  /// Calls `hinder` before each.
  PayloadOptions hindered(std::function<void(std::string_view)> hinder) const {
    return {.blobs = std::make_shared<test::HinderedBlobs>(blobs(), std::move(hinder))};
  }
  /// Away for so many times that they are asked for.
  PayloadOptions away_for(int times) {
    return hindered([this, times](std::string_view) {
      if (++asked_ <= times) throw BlobError{"the blobs are away"};
    });
  }
  PayloadOptions away() {
    return hindered([this](std::string_view) {
      ++asked_;
      if (away_) throw BlobError{"the blobs are away"};
    });
  }
  static PayloadOptions with_ring(PayloadOptions payloads) {
    payloads.keyring = {.current = "k", .keys = {{"k", std::string(32, 'k')}}};
    return payloads;
  }
  static ProcessorOptions with(PayloadOptions payloads) {
    auto options = lenient();
    options.payloads = std::move(payloads);
    return options;
  }
  std::int64_t completed() const {
    return inspector_.count({.states = {TaskState::completed}, .kind = request_kind});
  }

  std::atomic<int> asked_ = 0;
  std::atomic<bool> away_ = true;
};

TEST_F(AbsentBlobs, KeepAnAnswerWaitingAndItsRequestIsNotSentAgain) {
  HttpServer server{large};
  std::atomic<int> troubles = 0;
  engine_.events().subscribe(
      [&](const Event& event) { troubles += std::holds_alternative<StoreTrouble>(event); });
  Client client{engine_, {.persistence = {.attempts = 1}, .payloads = with_ring({})}};
  const auto id = client.post(server.url(), call("x"));
  const auto told = perform(with(with_ring(away_for(2))));
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(told.calls, 1);
  EXPECT_EQ(told.responses.at("x").body.size(), 100'000u);
  EXPECT_EQ(inspector_.task(id)->attempt, 1);
  EXPECT_EQ(inspector_.tasks({.kind = "keep"}).size(), 1u);
  EXPECT_EQ(troubles, 1) << "once in a while is enough";
}

TEST_F(AbsentBlobs, KeepAnAnswerWithoutACallbackWaiting) {
  HttpServer server{large};
  const auto payloads = away_for(2);
  Client client{engine_, {.payloads = {.blobs = blobs()}}};
  const auto id = client.post(server.url());
  Processor{engine_, with(payloads)}.run();
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(client.answer(id)->body.size(), 100'000u);
}

TEST_F(AbsentBlobs, KeepAnAnswerWaitingForLongerThanItsTimeout) {
  HttpServer server{large};
  auto task = client_.task_for(client_.build(Method::post, server.url(), call("x")));
  task.options.timeout = Millis{500};
  enqueue_own(engine_, {std::move(task)});
  const auto told = perform(with(away_for(2)));  // that is 750 ms
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(told.responses.size(), 1u);
}

TEST_F(AbsentBlobs, LeaveRoomForThoseThatCanBeWritten) {
  constexpr int absent = 12, present = 4;  // more than are written at once
  HttpServer server{large};
  std::mutex mutex;
  std::set<std::string, std::less<>> keys;
  const auto payloads = hindered([&](std::string_view key) {
    std::lock_guard lock{mutex};
    if (keys.size() < absent) keys.emplace(key);
    if (away_ && keys.contains(key)) throw BlobError{"the blob is away"};
  });
  for (int i = 0; i < absent + present; ++i) client_.get(server.url(), call(std::to_string(i)));
  Processor processor{engine_, with(payloads)};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return completed() == present; }));
  EXPECT_EQ(inspector_.count({.states = {TaskState::running}, .kind = request_kind}), absent);
  away_ = false;
  running.join();
  EXPECT_EQ(server.served(), absent + present);
  EXPECT_EQ(call_back({.blobs = blobs()}).calls, absent + present);
}

TEST_F(AbsentBlobs, LetAStoppedProcessorGiveItsRequestsBackUncharged) {
  HttpServer server{large};
  auto once = call("once");
  once.on_ambiguous = OnAmbiguous::hold;
  const auto held = client_.post(server.url(), once);
  const auto sent_again = client_.post(server.url(), call("again"));
  Processor processor{engine_, with(away())};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return asked_ >= 2; }));
  processor.stop();
  running.join();
  for (const auto id : {held, sent_again}) {
    EXPECT_EQ(inspector_.task(id)->state, TaskState::pending);
    EXPECT_EQ(inspector_.task(id)->attempt, 0);
  }
  const auto told = perform(with({.blobs = blobs()}));
  EXPECT_EQ(server.served(), 3);
  EXPECT_EQ(told.responses.size(), 1u);
  EXPECT_EQ(inspector_.task(held)->state, TaskState::held) << "it may have been sent, and was";
}

TEST_F(AbsentBlobs, DoNotKeepACancelledRequest) {
  HttpServer server{large};
  const auto id = client_.post(server.url(), call("x"));
  Processor processor{engine_, with(away())};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return asked_ == 5; }));  // the next is four seconds away
  const auto before = std::chrono::steady_clock::now();
  inspector_.cancel({.ids = {id}});
  running.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{3});
  EXPECT_EQ(inspector_.task(id)->state, TaskState::cancelled);
  EXPECT_EQ(call_back({.blobs = blobs()}).calls, 0);
}

TEST_F(AbsentBlobs, ThatRefuseAnAnswerAreWhatTheCallbackIsTold) {
  HttpServer server{large};
  const auto refusing = hindered([](std::string_view) {
    throw BlobRefused{BlobRefused::Reason::rights, "the container may not be written"};
  });
  Client client{engine_};
  client.post(server.url(), call("x"));
  auto raising = call("raising");
  raising.raise_error_responses = true;
  client.post(server.url("/404"), raising);
  const auto without = client.post(server.url());
  Call untellable = callback("keep", std::string(100'000, 'c'));
  const auto untold = client.post(server.url(), untellable);
  const auto told = perform(with(refusing));
  EXPECT_EQ(server.served(), 4) << "each once";
  for (const auto* name : {"x", "raising"}) {
    EXPECT_EQ(told.errors.at(name).type, ErrorType::response_too_large);
    EXPECT_THAT(told.errors.at(name).message, HasSubstr("the container may not be written"));
  }
  for (const auto id : {without, untold}) {
    EXPECT_EQ(inspector_.task(id)->state, TaskState::failed);
    EXPECT_EQ(inspector_.task(id)->attempt, 1);
    EXPECT_THAT(inspector_.task(id)->error, HasSubstr("the container may not be written"));
  }
}

TEST_F(AbsentBlobs, DoNotUseUpTheAttemptsOfRequestsThatAreInThem) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto in_blob = call("x");
  in_blob.body = std::string(100'000, 'x');
  Client client{engine_, {.persistence = {.attempts = 1}, .payloads = {.blobs = blobs()}}};
  const auto id = client.post(server.url(), in_blob);
  const auto told = perform(with(away_for(1)));
  EXPECT_EQ(server.served(), 1);
  EXPECT_EQ(told.responses.size(), 1u);
  EXPECT_EQ(inspector_.task(id)->attempt, 1);
}

TEST_F(AbsentBlobs, DoNotUseUpTheAttemptsOfCallbacks) {
  HttpServer server{large};
  client_.get(server.url(), call("x"));
  Processor{engine_, with({.blobs = blobs()})}.run();
  const auto told = call_back(away_for(1));
  EXPECT_EQ(told.calls, 1);
  EXPECT_EQ(inspector_.tasks({.kind = "keep"}).at(0).attempt, 1);
}

TEST_F(AbsentBlobs, WhoseFolderIsAwayAreNotTakenForGone) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto in_blob = call("x");
  in_blob.body = std::string(100'000, 'x');
  const PayloadOptions payloads{.blobs = blobs()};
  Client client{engine_, {.persistence = {.attempts = 1}, .payloads = payloads}};
  const auto id = client.post(server.url(), in_blob);
  const auto folder = store_.folder() / "blobs", elsewhere = store_.folder() / "elsewhere";
  std::filesystem::rename(folder, elsewhere);
  Processor processor{engine_, with(payloads)};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] {
    const auto task = inspector_.task(id);
    return task->state == TaskState::pending && task->run_at > task->created_at;
  }));
  std::filesystem::rename(elsewhere, folder);
  running.join();
  EXPECT_EQ(call_back(payloads).responses.size(), 1u);
}

}  // namespace
}  // namespace holdfast::http
