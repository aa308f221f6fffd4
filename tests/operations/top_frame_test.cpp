#include "cli/top_frame.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace holdfast::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

QueueStatus queue(const std::string& name, std::int64_t completed) {
  QueueStatus status{.queue = name};
  status.counts[static_cast<std::size_t>(TaskState::completed)] = completed;
  return status;
}

TopView view(int second, std::vector<QueueStatus> queues) {
  return {.at = WallTime{std::chrono::seconds{1'000 + second}},
          .store = "sqlite:work.db",
          .durability = "power-safe",
          .queues = std::move(queues)};
}

WorkerStatus worker(const std::string& host) {
  WorkerStatus status;
  status.id = WorkerId::make();
  status.host = host;
  status.kinds = {"mail"};
  return status;
}

TEST(Allotted, GivesShortSectionsAllAndTheOthersTheSame) {
  EXPECT_THAT(allotted({3, 50, 40}, 23), ElementsAre(3, 10, 10));
  EXPECT_THAT(allotted({3, 5, 4}, 100), ElementsAre(3, 5, 4));
  EXPECT_THAT(allotted({3, 5}, 0), ElementsAre(0, 0));
}

TEST(TopFrame, SaysWhatWasDoneInASecond) {
  const auto frame =
      top_frame(view(2, {queue("mail", 30), queue("new", 5)}), view(0, {queue("mail", 10)}), {}, 0);
  EXPECT_THAT(frame, HasSubstr("35 completed (12.5/s)"));
  EXPECT_THAT(frame, HasSubstr("10.0"));
  const auto pruned = top_frame(view(2, {queue("mail", 3)}), view(0, {queue("mail", 10)}), {}, 0);
  EXPECT_THAT(pruned, HasSubstr("(0.0/s)"));
  const auto first = view(0, {queue("mail", 3)});
  EXPECT_THAT(top_frame(first, first, {}, 0), Not(HasSubstr("/s)")));
}

TEST(TopFrame, HasNoMoreLinesThanTheScreen) {
  auto full = view(0, {});
  for (int i = 0; i < 40; ++i) full.queues.push_back(queue("q" + std::to_string(i), 1));
  for (int i = 0; i < 40; ++i) full.workers.push_back(worker("box"));
  full.reports.resize(10);
  for (const int height : {5, 8, 24, 50, 200}) {
    const auto frame = top_frame(full, full, {}, height);
    EXPECT_LE(std::ranges::count(frame, '\n'), height) << frame;
  }
  EXPECT_THAT(top_frame(full, full, {}, 24), HasSubstr("... and "));
  EXPECT_THAT(top_frame(full, full, {}, 200), Not(HasSubstr("... and ")));
}

TEST(TopFrame, ShowsNamesHarmlessly) {
  auto nasty = view(0, {queue("a\x1b[2J\n\xe2\x80\xae", 1)});
  nasty.workers.push_back(worker("box\r\x07"));
  nasty.store = "sqlite:\x1b]0;owned\x07.db";
  nasty.trouble = "gone\x1b[1m";
  const auto frame = top_frame(nasty, nasty, {}, 0);
  for (const char letter : frame)
    EXPECT_TRUE(letter == '\n' || static_cast<unsigned char>(letter) >= 0x20) << frame;
  EXPECT_THAT(frame, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(frame, HasSubstr("cannot ask the store: gone\\x1b[1m"));
}

}  // namespace
}  // namespace holdfast::cli
