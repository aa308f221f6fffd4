#include "http/egress.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/forbidden_places.hpp"
#include "http/hosts.hpp"
#include "http/left_alone.hpp"
#include "http/lines.hpp"

namespace holdfast::http {
namespace {

std::string refusal(const std::string& address, const EgressOptions& options = {}, int port = 443) {
  return Egress{options}.refusal("host.example", *Address::parse(address), port);
}

TEST(Egress, RefusesTheFirstTheLastAndThoseBetweenOfEverySpecialRange) {
  for (const auto& address : test::forbidden_addresses())
    EXPECT_NE(refusal(address), "") << address;
}

TEST(Egress, RefusesWhatCarriesSuchAnAddress) {
  int carriers = 0;
  for (const auto& four : test::forbidden_addresses()) {
    if (four.find(':') != four.npos) continue;
    EXPECT_NE(refusal("::ffff:" + four), "") << four;
    for (const auto& carrier : test::carriers_of(four)) {
      EXPECT_NE(refusal(carrier), "") << carrier;
      ++carriers;
    }
  }
  EXPECT_GT(carriers, 200);
}

TEST(Egress, LetsThroughWhatIsNextToSpecialRanges) {
  for (const auto& range : test::forbidden_ranges())
    for (const auto& address : {range.before, range.after}) {
      if (address.empty()) continue;
      EXPECT_EQ(refusal(address), "") << address;
      if (address.find(':') != address.npos) continue;
      EXPECT_EQ(refusal("::ffff:" + address), "") << address;
      const auto carriers = test::carriers_of(address);
      for (auto open : {carriers.end() - 2, carriers.end() - 1})
        EXPECT_EQ(refusal(*open), "") << *open << ": by NAT64 and 6to4 it is the same place";
    }
  for (auto address : {"1.1.1.1", "8.8.8.8", "2606:4700::1111", "2a00:1450::1"})
    EXPECT_EQ(refusal(address), "") << address;
}

TEST(Egress, OtherServicesThanTheWebAreNotSpokenTo) {
  EXPECT_NE(refusal("8.8.8.8", {}, 25), "");
  EXPECT_EQ(refusal("8.8.8.8", {}, 80), "");
  EXPECT_EQ(refusal("8.8.8.8", {}, 8080), "");
}

TEST(Egress, HasExceptions) {
  EXPECT_EQ(refusal("127.0.0.1", {.allow_private = true}, 25), "");
  EXPECT_EQ(refusal("10.1.2.3", {.allow = {"10.1.0.0/16"}}), "");
  EXPECT_NE(refusal("10.2.2.3", {.allow = {"10.1.0.0/16"}}), "");
  EXPECT_EQ(refusal("::ffff:10.1.2.3", {.allow = {"10.1.0.0/16"}}), "");
  EXPECT_EQ(refusal("10.1.2.3", {.allow = {"HOST.example"}}), "");
  EXPECT_EQ(refusal("fd00::5", {.allow = {"fd00::/8"}}), "");
  for (auto bad : {"10.0.0.0/33", "10.0.0.0/x", "host name", ""})
    EXPECT_THROW(Egress({.allow = {bad}}), ConfigError) << bad;
}

class HostsTest : public testing::Test {
 protected:
  using Entry = Hosts::Entry;
  Entry enter(Millis now = Millis{0}) { return hosts_.enter(origin_, now); }

  Origin origin_ = origin_of("https://192.0.2.1/");
  Hosts hosts_{2, {.failures = 3, .pause = Millis{1'000}}, Millis{100}};
};

TEST_F(HostsTest, LetsSoManyInAtOnce) {
  EXPECT_EQ(enter(), Entry::go);
  EXPECT_EQ(enter(), Entry::go);
  EXPECT_EQ(enter(), Entry::wait);
  EXPECT_EQ(hosts_.enter({"https", "192.0.2.2", 443}, Millis{0}), Entry::go);
  hosts_.leave(origin_, false, Millis{0}, Millis{0});
  EXPECT_EQ(enter(), Entry::go);
}

TEST_F(HostsTest, OneLooksUpTheNameAndTheOthersWaitForThat) {
  origin_ = origin_of("https://a.example/");
  EXPECT_EQ(enter(), Entry::go);
  EXPECT_EQ(enter(), Entry::wait);
  hosts_.resolved(origin_, Millis{0});
  EXPECT_EQ(enter(), Entry::go);
  hosts_.leave(origin_, false, Millis{0}, Millis{0});
  hosts_.leave(origin_, false, Millis{0}, Millis{0});
  EXPECT_EQ(enter(Millis{200}), Entry::go);
  EXPECT_EQ(enter(Millis{200}), Entry::wait) << "the name is not known any more";
  EXPECT_TRUE(hosts_.is_resolving(origin_, Millis{300}));
  EXPECT_FALSE(hosts_.is_resolving(origin_, Millis{1'300})) << "that is not for a moment";
  hosts_.connected(origin_, Millis{300});
  EXPECT_FALSE(hosts_.is_resolving(origin_, Millis{300}));
  EXPECT_EQ(enter(Millis{399}), Entry::go);
}

TEST_F(HostsTest, AHostThatFailsAllTheTimeIsLeftAloneAndThenTriedByOne) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(enter(), Entry::go);
    hosts_.leave(origin_, true, Millis{0}, Millis{0});
  }
  EXPECT_EQ(enter(Millis{400}), Entry::closed);
  EXPECT_EQ(hosts_.closed_for(origin_, Millis{400}), Millis{600});
  EXPECT_EQ(enter(Millis{1'000}), Entry::go);
  EXPECT_EQ(enter(Millis{1'000}), Entry::wait);
  hosts_.leave(origin_, true, Millis{1'000}, Millis{1'000});
  EXPECT_EQ(enter(Millis{1'999}), Entry::closed);
  EXPECT_EQ(enter(Millis{2'000}), Entry::go);
  hosts_.leave(origin_, false, Millis{2'000}, Millis{2'000});
  EXPECT_EQ(enter(Millis{2'000}), Entry::go);
  EXPECT_EQ(enter(Millis{2'000}), Entry::go);
}

TEST_F(HostsTest, PatienceWithOneThatIsDownBeginsWhenItsCircuitBreakerOpens) {
  constexpr Millis patience{5'000};
  auto left = [&](Millis now) { return hosts_.patience_left(origin_, patience, now); };
  auto fail = [&](Millis now) {
    ASSERT_EQ(enter(now), Entry::go);
    hosts_.leave(origin_, true, now, now, "refused");
  };
  EXPECT_EQ(left(Millis{0}), std::nullopt) << "it is not down";
  for (int i = 0; i < 3; ++i) fail(Millis{0});
  EXPECT_EQ(left(Millis{0}), patience);
  EXPECT_EQ(left(Millis{900}), Millis{4'100});
  for (int i = 1; i < 5; ++i) fail(Millis{i * 1'000});
  EXPECT_EQ(left(Millis{4'999}), Millis{1});
  EXPECT_EQ(hosts_.last_error(origin_), "refused");
  ASSERT_EQ(enter(Millis{5'000}), Entry::go) << "that one shows how it is";
  EXPECT_EQ(left(Millis{5'500}), Millis{1'500}) << "until then the others wait, for a moment";
  EXPECT_EQ(left(Millis{7'500}), Millis{-500});
  hosts_.leave(origin_, true, Millis{5'000}, Millis{8'000});
  EXPECT_EQ(left(Millis{8'001}), Millis{-3'001});
  ASSERT_EQ(enter(Millis{9'000}), Entry::go);
  hosts_.leave(origin_, false, Millis{9'000}, Millis{9'000});
  EXPECT_EQ(left(Millis{9'000}), std::nullopt);
  Hosts without{2, {.failures = 0}, Millis{100}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(without.enter(origin_, Millis{0}), Entry::go);
    without.leave(origin_, true, Millis{0}, Millis{0});
  }
  EXPECT_EQ(without.patience_left(origin_, Millis{0}, Millis{0}), std::nullopt);
}

TEST_F(HostsTest, WhoFindsNoPlaceComesBackAboutWhenThereIsOne) {
  ASSERT_EQ(enter(), Entry::go);
  ASSERT_EQ(enter(), Entry::go);
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{0}), Millis{20}) << "nothing is known yet";
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{40}), Millis{20});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{40}), Millis{30})
      << "each takes 40 ms at least, so a place becomes free every 20 ms; twice as many come";
  hosts_.leave(origin_, false, Millis{0}, Millis{80});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{80}), Millis{20});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{80}), Millis{40});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{80}), Millis{60});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{60'000}), Millis{20});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{60'000}), Millis{120})
      << "a slow one may be quick soon";
  for (int i = 0; i < 10'000; ++i) hosts_.next_turn(origin_, Millis{60'000});
  EXPECT_EQ(hosts_.next_turn(origin_, Millis{60'000}), Millis{300'000});
}

TEST(Lines, AreShortBecauseWhoWaitsTakesUpRoomForOthers) {
  Lines lines{8};
  const auto a = origin_of("http://a.example/"), b = origin_of("http://b.example/");
  EXPECT_FALSE(lines.first(a) || lines.last(a) || lines.too_long(a));
  lines.join(a, 1);
  lines.join(a, 2);
  EXPECT_FALSE(lines.too_long(a));
  lines.join(a, 3);
  EXPECT_TRUE(lines.too_long(a)) << "a quarter for one host";
  EXPECT_EQ(lines.first(a), 1u);
  EXPECT_EQ(lines.last(a), 3u);
  lines.join(b, 4);
  EXPECT_FALSE(lines.too_long(b));
  for (Ticket ticket = 5; ticket < 10; ++ticket)
    lines.join(origin_of(fmt::format("http://{}.example/", ticket)), ticket);
  EXPECT_TRUE(lines.too_long(b)) << "all of them for all";
  EXPECT_EQ(lines.everybody().size(), 9u);
  lines.leave(a, 2);
  EXPECT_FALSE(lines.too_long(b));
  EXPECT_FALSE(lines.too_long(a));
  lines.leave(a, 1);
  EXPECT_EQ(lines.first(a), 3u);
  lines.leave(a, 3);
  EXPECT_FALSE(lines.first(a));
  EXPECT_FALSE(lines.empty());
  EXPECT_FALSE(Lines{0}.first(a));
}

TEST_F(HostsTest, OneThatTurnsBackLeavesAHostThatFailsAsItIs) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(enter(), Entry::go);
    hosts_.leave(origin_, true, Millis{0}, Millis{0});
  }
  ASSERT_EQ(enter(Millis{1'000}), Entry::go);
  hosts_.turn_back(origin_);
  EXPECT_EQ(enter(Millis{1'000}), Entry::go);
  EXPECT_EQ(enter(Millis{1'000}), Entry::wait) << "still one at a time";
}

TEST_F(HostsTest, KnowsHowOftenOneFailedInARow) {
  EXPECT_EQ(hosts_.failures(origin_), 0);
  for (int i = 0; i < 2; ++i) {
    enter();
    hosts_.leave(origin_, true, Millis{0}, Millis{0});
  }
  EXPECT_EQ(hosts_.failures(origin_), 2);
  enter();
  hosts_.leave(origin_, false, Millis{0}, Millis{0});
  EXPECT_EQ(hosts_.failures(origin_), 0);
}

TEST(Standing, ComesBackAsItWasTold) {
  Standing told{.state = "draining", .per_host = 3, .trouble = "no secret"};
  for (int i = 0; i < 100; ++i)
    told.left_alone.push_back({"a.example:" + std::to_string(i), WallTime{Millis{1'000 + i}}, 10,
                               std::string(10'000, 'x')});
  EXPECT_LT(told.text().size(), 8'000u) << "it goes with every heartbeat";
  const auto read = Standing::parse(told.text());
  EXPECT_EQ(read.state, "draining");
  EXPECT_EQ(read.per_host, 3);
  ASSERT_FALSE(read.left_alone.empty());
  EXPECT_EQ(read.left_alone[0].host, "a.example:0");
  EXPECT_EQ(read.trouble, "no secret");
  EXPECT_EQ(read.left_alone[0].until, WallTime{Millis{1'000}});
  EXPECT_EQ(read.left_alone[0].failures, 10);
  for (const auto* text : {"", "[]", "{", R"({"left_alone":[1,{}]})", R"({"state":7})"})
    EXPECT_EQ(Standing::parse(text).state, "") << text;
  EXPECT_EQ(host_text(origin_of("https://Example.org:443/a")), "example.org");
  EXPECT_EQ(host_text(origin_of("http://[::1]:8080/")), "[::1]:8080");
}

TEST(Standing, OfSeveralProcessorsNamesEachHostOnce) {
  const auto until = [](int milliseconds) { return WallTime{Millis{milliseconds}}; };
  const std::vector<Standing> told{{.left_alone = {{"b", until(9), 11}, {"over", until(5), 10}}},
                                   {.left_alone = {{"b", until(8), 10}, {"a", until(7), 10}}}};
  const auto hosts = left_alone_by_any(told, until(5));
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].host, "a");
  EXPECT_EQ(hosts[1].host, "b");
  EXPECT_EQ(hosts[1].failures, 11) << "for as long as any of them leaves it alone";
}

}  // namespace
}  // namespace holdfast::http
