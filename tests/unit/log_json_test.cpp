#include "documents/log_json.hpp"

#include <set>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

namespace holdfast {
namespace {

const TaskId task = TaskId::make();
const WorkerId worker = WorkerId::make();

boost::json::object line_of(const Event& event) {
  const WallTime at{std::chrono::milliseconds{1'700'000'000'123}};
  return boost::json::parse(log_json(event, at).str()).as_object();
}

TEST(LogJson, BeginsWithTimeLevelNameAndASentence) {
  const auto line = line_of(WorkerEnlisted{worker});
  EXPECT_EQ(line.at("time"), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(line.at("level"), "info");
  EXPECT_EQ(line.at("event"), "worker_started");
  EXPECT_EQ(line.at("message").as_string(), to_text(WorkerEnlisted{worker}));
  EXPECT_EQ(line.at("worker").as_string(), worker.text());
}

TEST(LogJson, SaysWhatATaskDidInMembers) {
  Transition step{TaskState::running, TaskState::failed, "worker/x", "No route.", Token{7}, 2, {}};
  const auto line = line_of(TaskChanged{task, "email", step});
  EXPECT_EQ(line.at("task").as_string(), task.text());
  EXPECT_EQ(line.at("kind"), "email");
  EXPECT_EQ(line.at("from"), "running");
  EXPECT_EQ(line.at("to"), "failed");
  EXPECT_EQ(line.at("reason"), "No route.");
  EXPECT_EQ(line.at("token"), 7);
  EXPECT_EQ(line.at("attempt"), 2);
  step.from.reset();
  EXPECT_TRUE(line_of(TaskChanged{task, "email", step}).at("from").is_null());
}

TEST(LogJson, GivesEveryKindOfEventANameOfItsOwn) {
  const Event events[] = {
      TaskChanged{},        RecoveryStarted{},   RecoveryCompleted{}, MassExpiry{},
      IntegrityChecked{},   StoreRepaired{},     WorkerEnlisted{},    WorkerDied{},
      WorkerCleared{},      StaleWriteRefused{}, HeartbeatFailed{},   LeasesAbandoned{},
      StoreTrouble{},       StoreWarning{},      DamageFound{},       HandlerIgnoresStop{},
      KindPaused{},         KindResumed{},       ScheduleFired{},     ScheduleBroken{},
      TransactionResumed{}, TransactionMoved{},  QueueWatched{},      MessageRejected{},
      TransactionNoted{}};
  static_assert(std::size(events) == std::variant_size_v<Event>);
  std::set<std::string> names;
  for (const auto& event : events) {
    const auto line = line_of(event);
    names.emplace(line.at("event").as_string());
    EXPECT_GT(line.size(), 4U) << line.at("event") << " says nothing but its sentence";
  }
  EXPECT_EQ(names.size(), std::size(events));
}

TEST(LogJson, IsOneLineWithoutControlCharactersWhateverAHandlerSaid) {
  const Transition step{TaskState::running,
                        TaskState::failed,
                        "worker/x",
                        "oops\n{\"level\":\"info\"}\x1b[2J\xff\xe2\x80\xae",
                        Token{1},
                        1,
                        {}};
  const auto text = log_json(TaskChanged{task, "email", step}, {}).str();
  for (const char letter : text) EXPECT_GE(static_cast<unsigned char>(letter), 0x20) << text;
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\xe2\x80\xae")));
  EXPECT_EQ(boost::json::parse(text).at("reason").as_string(),
            "oops\n{\"level\":\"info\"}\x1b[2J\xef\xbf\xbd\xe2\x80\xae");
}

}  // namespace
}  // namespace holdfast
