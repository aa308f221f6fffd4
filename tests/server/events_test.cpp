#include <sys/resource.h>

#include <gmock/gmock.h>

#include "server/hub.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string last_id(const std::string& text) {
  const auto place = text.rfind("id: ");
  return text.substr(place + 4, text.find('\n', place) - place - 4);
}

class LiveEvents : public testing::Test {
 protected:
  Wire listen(const std::string& last = {}) {
    Wire wire{server_.port()};
    Headers headers{{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}};
    if (!last.empty()) headers["Last-Event-ID"] = last;
    wire.send(request_text("GET", "/v1/events", {}, headers));
    return wire;
  }
  /// Reads up to the end of the next event of this type.
  static std::string next(Wire& wire, const std::string& type) {
    auto text = wire.until("event: " + type + "\n");
    return text += wire.until("\n\n");
  }

  ServerUnderTest server_;
};

TEST_F(LiveEvents, TellHowItIsAndWhatChanges) {
  auto wire = listen();
  EXPECT_THAT(wire.until("\r\n\r\n"), HasSubstr("text/event-stream"));
  EXPECT_THAT(next(wire, "workers"), HasSubstr(R"("workers":[])"));
  server_.enqueue("a", "{}", {.queue = "mail"});
  EXPECT_THAT(next(wire, "tasks"), HasSubstr(R"({"queues":["mail"],"complete":true})"));
  EXPECT_THAT(next(wire, "point"), HasSubstr(R"("pending":1)"));
}

TEST_F(LiveEvents, GoOnWhereTheConnectionBroke) {
  std::string seen;
  {
    auto wire = listen();
    seen = next(wire, "workers");
  }
  server_.enqueue("a", "{}", {.queue = "missed"});
  {
    auto other = listen();  // somebody watches meanwhile
    next(other, "tasks");
  }
  auto again = listen(last_id(seen));
  EXPECT_THAT(next(again, "tasks"), AllOf(HasSubstr("missed"), Not(HasSubstr("event: reset"))));
  auto stranger = listen("0badcafe-17");
  EXPECT_THAT(next(stranger, "queues"), HasSubstr("event: reset"));
}

TEST_F(LiveEvents, OfARecoveryComeWithItsReport) {
  Settings quick;
  quick.heartbeat.interval = Millis{100};
  quick.heartbeat.stale_threshold_multiplier = 2;
  quick.heartbeat.detection_interval = Millis{100};
  ServerUnderTest server{{.settings = quick}};
  Wire wire{server.port()};
  wire.send(request_text("GET", "/v1/events", {},
                         {{"Host", server.host()}, {"Authorization", "Bearer " + server.token()}}));
  next(wire, "recovery");
  server.enqueue("work");
  const auto worker = server.post("/v1/remote/workers", R"({"kinds":["work"]})").json();
  const std::string id{worker.at("worker").as_string()};
  const std::string secret{worker.at("secret").as_string()};
  ASSERT_THAT(
      server.post("/v1/remote/workers/" + id + "/claim", "{}", {{"Holdfast-Worker-Secret", secret}})
          .body,
      HasSubstr("\"token\":1"));
  // It says nothing any more.
  EXPECT_THAT(next(wire, "report"), HasSubstr(id));
}

TEST_F(LiveEvents, AThousandIdleClientsCostLittle) {
  constexpr rlim_t needed = 4'096;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min(files.rlim_max, needed);
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::vector<Wire> clients;
  for (int i = 0; i < 1'000; ++i) clients.push_back(listen());
  for (auto& client : clients) ASSERT_THAT(client.until("event: queues"), HasSubstr("200 OK"));
  EXPECT_EQ(server_.service().stores().front()->hub()->clients(), 1'000);
  // Each of them hears of a change, and others are served meanwhile.
  server_.enqueue("a");
  EXPECT_EQ(server_.get("/v1/queues").status, 200);
  for (auto& client : clients) ASSERT_THAT(next(client, "tasks"), HasSubstr("default"));
  clients.clear();
  EXPECT_TRUE(
      eventually([&] { return server_.service().stores().front()->hub()->clients() == 0; }));
}

TEST(Hub, KeepsALimitedPast) {
  auto hub = std::make_shared<server::Hub>();
  hub->publish("queues", "{}", true);
  auto slow = hub->subscribe({});
  EXPECT_THAT(slow->take(), HasSubstr("event: queues"));
  EXPECT_EQ(slow->take(), "");
  for (int i = 0; i < 5'000; ++i) hub->publish("point", std::string(2'000, '1'), false);
  EXPECT_THAT(slow->take(), HasSubstr("event: reset"));
  EXPECT_EQ(slow->take(), "");
  EXPECT_EQ(hub->clients(), 1);
}

}  // namespace
}  // namespace holdfast::test
