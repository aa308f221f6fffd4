#include <gmock/gmock.h>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/pg_bouncer.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

struct Job {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(Job, (), (n))

class Pooler : public testing::Test {
 protected:
  std::string address() { return pooler_.address(fmt::format("schema=pooled_{}", ::getpid())); }
  Engine open_store() {
    std::optional<Engine> engine;
    EXPECT_TRUE(eventually([&] {
      try {
        engine = open(address());
        return true;
      } catch (const StoreError&) {
        return false;
      }
    })) << pooler_.said();
    return engine.value();
  }

  PgBouncer pooler_{PostgresServer::shared(), "postgres", "admin"};
};

TEST_F(Pooler, TasksRunAndTheLogSaysThatOnlyAgeProvesADeath) {
  auto engine = open_store();
  std::string said;
  std::mutex mutex;
  engine.events().subscribe([&](const Event& event) {
    std::lock_guard lock{mutex};
    if (std::holds_alternative<StoreWarning>(event)) said += to_text(event) + "\n";
  });
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job&, Attempt& attempt) {
    attempt.log("hello");
    return done;
  });
  tasks.enqueue_all(std::vector<NewTask>(300, NewTask{"job", R"({"n":1})"}));
  auto summary = Worker{tasks, {.concurrency = 4, .until_empty = true}}.run();
  EXPECT_EQ(summary.completed, 300);
  EXPECT_EQ(Inspector{engine}.count({.states = {TaskState::completed}}), 300);
  std::lock_guard lock{mutex};
  EXPECT_THAT(said, HasSubstr("pooler"));
}

TEST_F(Pooler, DeathIsNotProven) {
  auto engine = open_store();
  auto enlistment = engine.parts().workers().enlist({.queues = {}, .kinds = {"job"}});
  auto id = enlistment->id();
  enlistment.reset();
  for (const auto& sighting : engine.parts().workers().look()) {
    if (sighting.status.id != id) continue;
    EXPECT_FALSE(sighting.proven_dead);
    EXPECT_THAT(sighting.status.proof, HasSubstr("pooler"));
    return;
  }
  FAIL() << "nobody sees it";
}

}  // namespace
}  // namespace holdfast::test
