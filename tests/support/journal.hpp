#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.hpp>

namespace holdfast::test {

/// What a process under test says about itself while it runs, so that the oracle can compare it
/// with what the store says in the end.
enum class Said {
  enqueueing,  ///< is about to enqueue: the task may come into being
  enqueued,    ///< was told that the task is durable
  started,     ///< a handler runs
  follow_up,   ///< a handler asked for `text` (a task id) to follow its completion
  recording,   ///< is about to record an effect
  recorded,    ///< the store says that the effect has the value `text`
  returned,    ///< a handler returned; `text` is `done`, `failed` or `other`
  settled,     ///< the store accepted the end of an attempt; `text` is the new state
  refused,     ///< the store refused a write
};

struct JournalLine {
  std::chrono::microseconds at{0};  ///< one clock for all processes of this host
  Said said = Said::started;
  TaskId task{};
  Token token{};
  std::string text{};
};

/// One file a process, one line an event, each written by one call, so that a kill tears at most
/// the last line. Safe from several threads.
class Journal {
 public:
  explicit Journal(const std::string& folder);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void say(Said said, TaskId task, Token token = {}, std::string_view text = {}) const;

 private:
  int fd_ = -1;
};

/// Every whole line of every journal in `folder`, in the order of time.
std::vector<JournalLine> read_journals(const std::string& folder);

}  // namespace holdfast::test
