// What somebody plants who can write to the store, and what callers of the library try.

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "http/forget.hpp"
#include "http/processor_scenario.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

/// See sealing_test.cpp.
constexpr std::string_view planted_before =
    R"({"$encrypted":{"key":"k","value":"bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ul8nThgvYyTf60si1f33JlbPqO)"
    R"(KHmWY3MOyCTBXU7hEApffTivUzDkucHbcO4Sc2qCpJXt5HYZ/ZYTktNdY41T6U="}})";

class Planted : public ProcessorScenario {
 protected:
  Planted() {
    payloads_.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
    payloads_.keyring = {.current = "k", .keys = {{"k", std::string(32, 'k')}}};
  }
  /// As it would be in the store, past all that callers may do.
  TaskId plant(const std::string& kind, const std::string& payload, TaskOptions options = {}) {
    options.max_attempts = 1;
    return enqueue_own(engine_, {{kind, payload, std::move(options)}}).front();
  }
  Told run() {
    auto options = lenient();
    options.payloads = payloads_;
    return perform(options);
  }
  void expect_held(TaskId id, const std::string& why) {
    EXPECT_EQ(inspector_.task(id)->state, TaskState::held);
    EXPECT_THAT(inspector_.task(id)->cause, HasSubstr(why));
  }
  Client client() { return Client{engine_, {.payloads = payloads_}}; }
  TaskId large_request(const std::string& url, const std::string& name) {
    auto sent = call(name);
    sent.body = std::string(100'000, 'y');
    return client().post(url, sent);
  }
  std::string blob_in(TaskId id) { return blob_of(inspector_.task(id)->payload, id); }

  PayloadOptions payloads_;
};

TEST_F(Planted, ACopiedRequestIsNotPerformed) {
  int performed = 0;
  HttpServer server{[&](const ServedRequest&) { return ++performed, answer(200); }};
  const auto victim = client().get(server.url(), call("x"));
  const auto stolen = inspector_.task(victim)->payload;
  EXPECT_THROW(Tasks{engine_}.enqueue(NewTask{"keep", stolen}), InvalidRequest) << "as a caller";
  const auto copy = plant(request_kind, stolen);
  const auto as_answer = plant("keep", stolen);
  EXPECT_EQ(run().calls, 1);
  EXPECT_EQ(performed, 1);
  EXPECT_EQ(inspector_.task(victim)->state, TaskState::completed);
  expect_held(copy, "copied from another task");
  expect_held(as_answer, "copied from another task");
}

TEST_F(Planted, ASignedRequestIsReadableAndPerformedAndACopyIsNot) {
  int performed = 0;
  HttpServer server{[&](const ServedRequest&) {
    ++performed;
    return answer(200, "answered");
  }};
  payloads_.sign_only = true;
  const auto id = client().get(server.url());
  const auto payload = inspector_.task(id)->payload;
  EXPECT_THAT(payload, testing::AllOf(HasSubstr("$signed"), HasSubstr("127.0.0.1")));
  const auto copy = plant(request_kind, payload);
  payloads_.sign_only = false;  // a processor that encrypts
  run();
  EXPECT_EQ(performed, 1);
  EXPECT_EQ(client().answer(id)->body, "answered");
  expect_held(copy, "copied from another task");
}

TEST_F(Planted, ACopiedAnswerIsNotDelivered) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "secret"); }};
  client().get(server.url(), call("x"));
  auto options = lenient();
  options.payloads = payloads_;
  Processor{engine_, options}.run();
  const auto stolen = inspector_.tasks({.kind = "keep"}).at(0).payload;
  ASSERT_TRUE(is_sealed(stolen));
  const auto copy = plant("keep", stolen), elsewhere = plant("keep", stolen, {.queue = "other"});
  EXPECT_EQ(call_back(payloads_).calls, 1);
  expect_held(copy, "copied from another task");
  expect_held(elsewhere, "copied from another task");
}

TEST_F(Planted, ACopiedResultIsNotOpened) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "secret"); }};
  const auto id = client().get(server.url());
  run();
  const auto sealed = boost::json::parse(inspector_.task(id)->result).at("sealed");
  EXPECT_EQ(client().answer(id)->body, "secret");
  const auto copy = plant("keep", boost::json::serialize(sealed));
  EXPECT_EQ(call_back(payloads_).calls, 0);
  expect_held(copy, "copied from another task");
}

TEST_F(Planted, ABlobOfAnotherTaskIsNeitherReadNorRemoved) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const auto victim = large_request("http://127.0.0.1:1/", "x");
  const auto blob = blob_in(victim);
  ASSERT_NE(blob, "");
  inspector_.hold({.ids = {victim}}, "it waits");
  const auto named = fmt::format(R"({{"$blob":"{}"}})", blob);
  const auto request = plant(request_kind, named), as_answer = plant("keep", named);
  run();
  expect_held(request, "does not belong to task");
  expect_held(as_answer, "does not belong to task");
  EXPECT_TRUE(payloads_.blobs->get(blob));
}

TEST_F(Planted, TasksThatForgetRemoveOnlyWhatEndedHere) {
  test::TempStore other_store;
  Client elsewhere{open(other_store.address()), {.payloads = payloads_}};
  auto sent = call("x");
  sent.body = std::string(100'000, 'y');
  elsewhere.post("http://127.0.0.1:1/", sent);
  const auto foreign = payloads_.blobs->list().at(0).key;
  const auto victim = large_request("http://127.0.0.1:1/", "x");
  const auto own = blob_in(victim);
  inspector_.hold({.ids = {victim}}, "it waits");
  const auto of_result = result_key(engine_, victim);
  const auto old_style = TaskId::make().text();
  for (const auto& name : {of_result, old_style, std::string{"not-ours"}})
    payloads_.blobs->put(name, "kept");
  const auto gone = blob_key(engine_, TaskId::make());
  payloads_.blobs->put(gone, "history has let go of its task");
  const auto before = payloads_.blobs->list().size();
  std::vector<TaskId> planted;
  for (const auto& name : {foreign, own, of_result, old_style, std::string{"not-ours"},
                           std::string{"../store.db"}, std::string{}})
    planted.push_back(plant(forget_kind, to_payload(name), {.queue = forget_queue}));
  const auto good = plant(forget_kind, to_payload(gone), {.queue = forget_queue});
  run();
  for (const auto id : planted) expect_held(id, "is not removed");
  EXPECT_EQ(inspector_.task(good)->state, TaskState::completed);
  EXPECT_EQ(payloads_.blobs->list().size(), before - 1);
}

/// Several stores can share blobs, and the same id can be in two of them after a move.
TEST_F(Planted, TasksThatForgetRemoveTheBlobThatTheTaskNamesAndNoOther) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const auto done = client().get(server.url());
  run();
  ASSERT_EQ(inspector_.task(done)->state, TaskState::completed);
  const auto of_another_store = "elsewhere." + done.text();
  payloads_.blobs->put(of_another_store, "kept");
  const auto planted = plant(forget_kind, to_payload(of_another_store), {.queue = forget_queue});
  run();
  expect_held(planted, "is not removed");
  EXPECT_TRUE(payloads_.blobs->get(of_another_store));
}

TEST_F(Planted, PlainRequestsAndAnswersAreHeldWhereThereIsAKeyUntilTheyAreAccepted) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const auto request = client_.get(server.url(), call("before"));
  const auto forged = plant("keep", R"({"response":{"status":200,"context":"forged"}})");
  EXPECT_EQ(run().calls, 0);
  expect_held(request, "--accept-plain");
  expect_held(forged, "--accept-plain");
  payloads_.accept_plain = true;
  EXPECT_EQ(inspector_.retry({.ids = {request}}), 1);
  EXPECT_EQ(run().responses.count("before"), 1u) << "nothing is lost";
}

TEST_F(Planted, RequestsOfEarlierVersionsArePerformedUntilThatIsRefused) {
  const auto warnings = std::make_shared<std::atomic<int>>(0);
  engine_.events().subscribe([warnings](const Event& event) {
    if (const auto* warning = std::get_if<StoreWarning>(&event))
      *warnings += warning->what.find("not bound to its task") != std::string::npos;
  });
  const auto first = plant(request_kind, std::string{planted_before});
  const auto second = plant(request_kind, std::string{planted_before});
  run();
  for (const auto id : {first, second})
    EXPECT_THAT(inspector_.task(id)->error, HasSubstr("connection")) << "it was sent";
  EXPECT_EQ(*warnings, 1);
  payloads_.accept_unbound = false;
  const auto third = plant(request_kind, std::string{planted_before});
  run();
  expect_held(third, "--refuse-unbound");
}

TEST_F(Planted, AnEncryptedRequestCanBeEnqueuedAgainUnderItsId) {
  const auto id = TaskId::make();
  for (int i = 0; i < 2; ++i) {
    auto again = call("x");
    again.id = id;
    EXPECT_EQ(client().get("http://127.0.0.1:1/", again), id);
  }
  EXPECT_EQ(inspector_.count({.kind = request_kind}), 1);
}

}  // namespace
}  // namespace holdfast::http
