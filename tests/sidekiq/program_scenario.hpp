#pragma once

#include <csignal>

#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {

/// Processors as processes of their own, which can be killed.
class SidekiqProgram : public SidekiqScenario {
 protected:
  std::vector<std::string> run_command(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line{HOLDFAST_PROGRAM,  "--store",      address(), "http", "run",
                                  "--allow-private", "--until-empty"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }
  test::Finished run_program(const std::string& kill_at = {},
                             const std::vector<std::string>& more = {}) const {
    test::Environment extra;
    if (!kill_at.empty()) extra.emplace_back("HOLDFAST_KILL_AT", kill_at);
    return test::run(run_command(more), extra);
  }

  /// Every request has one callback.
  void expect_each_told_once(int count) {
    std::map<std::string, int> told;
    for (const auto& job : queue())
      ++told[std::string{job.at("args").at(0).at("request_id").as_string()}];
    EXPECT_EQ(told.size(), static_cast<std::size_t>(count));
    for (const auto& [id, times] : told) EXPECT_EQ(times, 1) << id;
    expect_nothing_in_flight();
  }
};

}  // namespace holdfast::sidekiq
