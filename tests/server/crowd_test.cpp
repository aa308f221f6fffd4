#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <iterator>

#include <gmock/gmock.h>

#include "server/connection_table.hpp"
#include "server/descriptors.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

/// Many connections at one server that has room for few of them.
class Crowd : public testing::Test {
 protected:
  std::string head(const std::string& more = {}) const {
    return "POST /v1/login HTTP/1.1\r\nHost: " + server_.host() +
           "\r\nContent-Type: application/json\r\n" + more;
  }
  /// Opens so many of them, each of which says this and then nothing.
  void crowd(int count, const std::string& says) {
    for (int i = 0; i < count; ++i) {
      crowd_.emplace_back(server_.port());
      if (!says.empty()) crowd_.back().send(says);
    }
  }
  /// Descriptors of this process, which has both ends of each connection.
  static std::size_t descriptors() {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// An honest caller is answered at once, and the server keeps no more than it has places for.
  void expect_service(const char* when) {
    const auto begin = steady_clock::now();
    EXPECT_EQ(server_.bare("GET", "/healthz").status, 200) << when;
    EXPECT_EQ(server_.get("/v1/queues").status, 200) << when;
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds{3}) << when;
    expect_places(when);
  }
  /// Sooner than deadlines would end them.
  void expect_places(const char* when) const {
    EXPECT_TRUE(
        eventually([&] { return descriptors() <= before_ + crowd_.size() + places + of_others; },
                   std::chrono::seconds{3}))
        << when << ": " << descriptors() - before_ - crowd_.size();
  }

  static constexpr std::size_t places = 64, of_others = 20;
  ServerUnderTest server_{{.connections = places}};
  const std::size_t before_ = descriptors();
  std::deque<Wire> crowd_;
};

TEST_F(Crowd, OfBodiesThatNeverComeLocksNobodyOut) {
  for (int round = 0; round < 6; ++round) {
    crowd(50, head("Content-Length: 100\r\n\r\n{"));
    expect_service("with one byte of body each");
  }
}

TEST_F(Crowd, InAnyPhaseLocksNobodyOut) {
  crowd(100, "");
  expect_service("silent");
  crowd(100, "GET / HT");
  expect_service("in the head");
  crowd(100, head("Transfer-Encoding: chunked\r\n\r\n5\r\n{"));
  expect_service("in a chunk");
  crowd(100, head("Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"));
  expect_service("invited to send");
  crowd(100, "GET /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nabc");
  expect_service("refused, and their rest unread");
  crowd(100, "GET /healthz HTTP/1.1\r\nHost: " + server_.host() + "\r\n\r\n");
  expect_service("answered, and kept alive");
}

TEST_F(Crowd, DoesNotPushOutWhoHasJustCome) {
  crowd(200, head("Content-Length: 100\r\n\r\n{"));
  Wire honest{server_.port()};
  crowd(10, head("Content-Length: 100\r\n\r\n{"));
  honest.send("GET /healthz HTTP/1.1\r\nHost: " + server_.host() + "\r\n\r\n");
  EXPECT_EQ(honest.answer().status, 200) << "it was silent for a moment, and the others spoke";
}

TEST_F(Crowd, OfStrangersDoesNotTakeThePlaceOfThoseWhoAreKnown) {
  Wire known{server_.port()};
  const auto ask =
      request_text("GET", "/v1/queues", {},
                   {{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}});
  known.send(ask);
  ASSERT_EQ(known.answer().status, 200);
  crowd(300, head("Content-Length: 100\r\n\r\n{"));
  expect_service("meanwhile");
  known.send(ask);
  EXPECT_EQ(known.answer().status, 200) << "the same connection";
}

TEST_F(Crowd, OfWhatOneCallerHoldsDoesNotLockOutTheOperator) {
  const auto stream =
      request_text("GET", "/v1/events", {},
                   {{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}});
  for (int i = 0; i < 100; ++i) {
    crowd_.emplace_back(server_.port());
    crowd_.back().send(stream);
  }
  EXPECT_EQ(server_.bare("GET", "/healthz").status, 200);
  // The one caller has all that there are, so it is told so.
  const auto begin = steady_clock::now();
  const auto answer = server_.get("/v1/queues");
  EXPECT_TRUE(answer.status == 200 || answer.code() == "busy") << answer.body;
  const auto operates = server_.new_token({.scopes = {server::Scope::operates}});
  EXPECT_EQ(server_.bare("GET", "/v1/queues", {}, {{"Authorization", "Bearer " + operates}}).status,
            200);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds{3});
  expect_places("with streams");
}

TEST_F(Crowd, TakesNoLargeBodiesFromStrangers) {
  const auto answer = server_.bare("POST", "/v1/login", std::string(20'000, ' '),
                                   {{"Content-Type", "application/json"}});
  EXPECT_EQ(answer.status, 413);
}

TEST_F(Crowd, OfSlowBodiesIsEndedByADeadline) {
  Wire slow{server_.port()};
  slow.send(head("Content-Length: 100\r\n\r\n{"));
  const auto begin = steady_clock::now();
  EXPECT_EQ(slow.rest(), "") << "nothing is told to one that has not finished asking";
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds{9});
}

TEST_F(Crowd, OfBodiesThatTrickleIsEndedByADeadline) {
  Wire stranger{server_.port()}, known{server_.port()};
  stranger.send(head("Content-Length: 4000\r\n\r\n"));
  known.send("POST /v1/tasks HTTP/1.1\r\nHost: " + server_.host() + "\r\nAuthorization: Bearer " +
             server_.token() +
             "\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n");
  // Each piece comes in time, and the whole never would.
  bool stranger_ended = false, known_ended = false;
  eventually([&] {
    stranger_ended = stranger_ended || !stranger.send(" ");
    known_ended = known_ended || !known.send(" ");
    return stranger_ended && known_ended;
  });
  EXPECT_TRUE(stranger_ended);
  EXPECT_TRUE(known_ended) << "a credential allows no less than a kilobyte a second";
}

/// As the table sees a connection.
struct Someone final : server::Client {
  explicit Someone(std::optional<Millis> since = {}) : silent{since} {}
  void begin() override {}
  void close() override {}
  std::optional<Millis> silent_since() const override { return silent; }
  void news() override {}
  void comment() override {}
  void tick() override {}
  std::optional<Millis> silent;
};

class Table : public testing::Test {
 protected:
  std::shared_ptr<Someone> add(const std::string& group, std::optional<Millis> silent = {}) {
    auto someone = std::make_shared<Someone>(silent);
    table_.add(someone, group);
    return someone;
  }
  server::ConnectionTable table_{
      {.unauthenticated = 4, .authenticated = 4, .per_address = 2, .per_shared_address = 3}};
};

TEST_F(Table, DropsTheOldestOfAnAddressFirst) {
  const auto other = add("b");
  const auto first = add("a");
  EXPECT_EQ(table_.in_the_way("a", false), nullptr);
  add("a");
  EXPECT_EQ(table_.in_the_way("a", false), first);
  EXPECT_EQ(table_.in_the_way("a", true), nullptr) << "many share it";
  add("c");
  EXPECT_EQ(table_.in_the_way("d", false), other) << "the oldest of all";
  table_.leave(other.get());
  EXPECT_EQ(table_.in_the_way("d", false), nullptr);
}

TEST_F(Table, DropsTheOldestWhateverItIsDoing) {
  for (const bool first_is_silent : {false, true}) {
    const auto silent = std::optional{Millis{5}}, busy = std::optional<Millis>{};
    std::vector<std::shared_ptr<Someone>> callers;
    for (int i = 0; i < 4; ++i)
      callers.push_back(add("b" + std::to_string(i), (i == 0) == first_is_silent ? silent : busy));
    EXPECT_EQ(table_.in_the_way("x", false), callers[0]) << first_is_silent;
    for (const auto& caller : callers) table_.leave(caller.get());
  }
}

TEST_F(Table, NeverDropsWhoIsKnownForWhoIsNot) {
  const auto known = add("a");
  EXPECT_TRUE(table_.authenticate(known.get(), "ada").admitted);
  for (int i = 0; i < 4; ++i) add("b" + std::to_string(i));
  EXPECT_NE(table_.in_the_way("x", false), nullptr);
  EXPECT_NE(table_.in_the_way("x", false), known);
  EXPECT_EQ(table_.authenticated(), 1u);
}

TEST_F(Table, LetsTheCallerWithTheMostYield) {
  std::vector<std::shared_ptr<Someone>> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(add("w", i == 2 ? std::optional{Millis{5}} : std::nullopt));
    EXPECT_TRUE(table_.authenticate(workers.back().get(), "workers").admitted);
  }
  const auto operated = add("o");
  const auto verdict = table_.authenticate(operated.get(), "ada");
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.yields, workers[2]) << "the silent one";
  table_.leave(verdict.yields.get());
  const auto more = add("w");
  EXPECT_FALSE(table_.authenticate(more.get(), "workers").admitted);
  EXPECT_EQ(table_.unauthenticated(), 1u);
}

TEST(AddressGroup, IsTheNetworkOfAnIpv6Address) {
  const auto group = [](const char* text) {
    return server::address_group(boost::asio::ip::make_address(text));
  };
  EXPECT_EQ(group("2001:db8:1:2:3:4:5:6"), group("2001:db8:1:2:ffff::1"));
  EXPECT_NE(group("2001:db8:1:2::1"), group("2001:db8:1:3::1"));
  EXPECT_EQ(group("::ffff:192.0.2.1"), group("192.0.2.1"));
  EXPECT_NE(group("192.0.2.1"), group("192.0.2.2"));
}

TEST(Descriptors, AreSharedOut) {
  for (const std::size_t all : {64u, 256u, 1'024u, 4'096u, 100'000u}) {
    const auto plan = server::share_out(all, 4'096);
    EXPECT_LE(plan.connections + 2 * plan.workers, all - std::min<std::size_t>(all / 4, 128))
        << all;
    EXPECT_GE(plan.connections, 8u) << all;
  }
  EXPECT_EQ(server::share_out(100'000, 4'096).connections, 4'096u);
  EXPECT_EQ(server::share_out(100'000, 4'096).workers, 1'000u);
  EXPECT_EQ(server::share_out(100'000, 50).connections, 50u);
}

TEST_F(Crowd, OfRemoteWorkersLeavesDescriptorsForOthers) {
  server::set_worker_seats(3);
  const std::string body = R"({"kinds":["k"]})";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server_.post("/v1/remote/workers", body).status, 201);
  const auto refused = server_.post("/v1/remote/workers", body);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "busy");
  EXPECT_THAT(refused.body, HasSubstr("3 remote workers are enlisted already"));
  expect_service("with all workers");
}

}  // namespace
}  // namespace holdfast::test
