#pragma once

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/oracle.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A store that driver processes work on, and the oracle that has the last word.
class CrashTest : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  /// Starts the driver in `mode`; `words` are its `name=value` arguments.
  Process start(const std::string& mode, const Words& words = {}, const Environment& extra = {});
  /// The same, to the end, which must be a good one.
  std::string finish(const std::string& mode, const Words& words = {});
  /// Enqueues `count` orders and returns their ids.
  std::vector<TaskId> enqueue(int count, const Words& words = {});
  /// Works until nothing is left.
  void work_it_off(const Words& words = {});

  Engine open_store() const;
  TaskRecord record(TaskId id) const;
  /// Lines of the journals so far.
  std::vector<JournalLine> said() const { return read_journals(store_.journals()); }
  bool was_said(Said said, TaskId task) const;
  /// Waits until the journals say this about the task.
  bool comes_to(Said said, TaskId task) const;

  std::vector<Finding> ask_oracle(const Expectations& expectations = {}) const;
  void expect_clean(const Expectations& expectations = {}) const;

  /// Of the store: a file of the test's own, unless these tests are built for another engine.
  virtual std::string address() const { return address_; }
  /// Whether a process is in the middle of a write, in which it would keep others waiting.
  bool being_written() const;
  /// The program that is started; the ablation test brings another.
  virtual std::string program() const { return CRASH_DRIVER; }

  TempStore store_;

 private:
  static std::string new_address(const TempStore& store);
  std::string address_ = new_address(store_);
};

/// The kill points that the engine under test has.
std::vector<std::string_view> kill_points_of_engine();
/// All kill points of tasks but those whose names begin with one of these. Requests, transactions,
/// batches, blobs and brokers have tests of their own.
std::vector<std::string_view> kill_points_without(
    std::initializer_list<std::string_view> absent = {});

}  // namespace holdfast::test
