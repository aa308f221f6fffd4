#include <signal.h>

#include <boost/json/parse.hpp>
#include <holdfast/holdfast.hpp>

#include "scenario/cli_scenario.hpp"
#include "support/pty.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* enter = "\x1b[?1049h";
constexpr const char* leave = "\x1b[?1049l";

class Top : public CliScenario {
 protected:
  Top() { add({"letter", "--queue", "mail"}); }

  std::vector<std::string> command(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{HOLDFAST_PROGRAM, "--store", store_.address(), "top",
                                   "--interval",     "100ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static bool echoes(const PtyProcess& top) { return (top.attributes().c_lflag & ECHO) != 0; }
};

TEST_F(Top, RedrawsInPlaceUntilQIsTyped) {
  PtyProcess top{command(), 24, 100};
  ASSERT_TRUE(top.read_until(enter));
  ASSERT_TRUE(top.read_until("\x1b[H"));
  const auto first = top.read_until("\x1b[J");
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, HasSubstr("1 pending"));
  EXPECT_THAT(*first, HasSubstr("mail"));
  EXPECT_FALSE(echoes(top));
  add({"letter", "--queue", "mail"});
  EXPECT_TRUE(top.read_until("2 pending"));
  top.type("x");
  top.type("q");
  const auto ending = top.wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok());
  EXPECT_THAT(top.rest(), testing::EndsWith(leave));
  EXPECT_TRUE(echoes(top));
}

TEST_F(Top, FitsItselfIntoAWindowThatShrinks) {
  for (int i = 0; i < 30; ++i) add({"letter", "--queue", "queue-" + std::to_string(i)});
  PtyProcess top{command(), 50, 100};
  EXPECT_TRUE(top.read_until("queue-9"));
  top.resize(10, 100);
  ASSERT_TRUE(top.read_until("... and "));
  ASSERT_TRUE(top.read_until("\x1b[H"));
  const auto frame = top.read_until("\x1b[J");
  ASSERT_TRUE(frame);
  EXPECT_LT(std::ranges::count(*frame, '\n'), 10);
  top.resize(60, 100);
  EXPECT_TRUE(top.read_until("queue-9"));
}

TEST_F(Top, GivesTheTerminalBackOnCtrlCAndWhileItRests) {
  PtyProcess top{command(), 24, 100};
  ASSERT_TRUE(top.read_until("mail"));
  top.type("\x1a");
  ASSERT_TRUE(top.stopped());
  EXPECT_TRUE(echoes(top));
  EXPECT_TRUE(top.read_until(leave));
  top.go_on();
  ASSERT_TRUE(top.read_until(enter));
  ASSERT_TRUE(top.read_until("mail"));
  EXPECT_FALSE(echoes(top));
  top.type("\x03");
  const auto ending = top.wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok());
  EXPECT_THAT(top.rest(), testing::EndsWith(leave));
  EXPECT_TRUE(echoes(top));
}

TEST_F(Top, PrintsOnePlainFrameIntoAPipe) {
  const auto worker = cli({"worker", "run", "--kind", "letter", "--until-empty", "--exec", "true"});
  ASSERT_TRUE(worker.ending.ok()) << worker.err;
  const auto out = ok({"top", "--once"});
  EXPECT_THAT(out, HasSubstr("1 completed"));
  EXPECT_THAT(out, HasSubstr("stopped"));
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  const auto documents = json({"top", "--once"});
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].at("queues").at("queues").at(0).at("queue"), "mail");
  EXPECT_EQ(documents[0].at("workers").as_array().size(), 1U);
  EXPECT_EQ(documents[0].at("recovery").at("run_level"), "normal");
}

TEST_F(Top, GoesOnInAPipeUntilItIsInterrupted) {
  Process top{command()};
  const auto frames = [&] {
    int count = 0;
    for (const auto& line : lines_of(top.out())) count += line.starts_with("QUEUE");
    return count;
  };
  EXPECT_TRUE(eventually([&] { return frames() >= 3; }));
  top.signal(SIGINT);
  const auto ending = top.wait();
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 130);
  EXPECT_THAT(top.out(), Not(HasSubstr("\x1b")));
}

TEST_F(Top, GoesOnWhenTheStoreIsAwayForAWhile) {
  RedisServer server{{.append_only = true}};
  Tasks{open(server.address())}.enqueue_all(std::vector<NewTask>(1, NewTask{"letter", "{}"}));
  Process top{{HOLDFAST_PROGRAM, "--store", server.address(), "top", "--interval", "100ms"}};
  const auto says = [&](const char* what) { return top.out().find(what) != std::string::npos; };
  ASSERT_TRUE(eventually([&] { return says("QUEUE"); }));
  server.kill();
  ASSERT_TRUE(eventually([&] { return says("cannot ask the store"); }));
  server.start();
  const auto frames = [&] {
    const auto out = top.out();
    return out.substr(out.rfind("cannot ask the store")).find("QUEUE") != std::string::npos;
  };
  EXPECT_TRUE(eventually(frames));
  top.signal(SIGINT);
  EXPECT_TRUE(top.wait());
}

TEST_F(Top, RefusesWhatMakesNoSense) {
  EXPECT_THAT(cli({"top", "--interval", "1ms"}).err, HasSubstr("100ms"));
  EXPECT_EQ(run({HOLDFAST_PROGRAM, "--store", "sqlite:" + (store_.folder() / "no.db").string(),
                 "top", "--once"})
                .ending.code,
            1);
}

}  // namespace
}  // namespace holdfast::test
