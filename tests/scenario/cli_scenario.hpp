#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <boost/json/value.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// Runs the built program on a store of its own.
class CliScenario : public testing::Test {
 protected:
  /// `holdfast --store <ours> arguments...`
  Finished cli(std::vector<std::string> arguments, const std::string& input = {}) const;
  Process start(std::vector<std::string> arguments, const Environment& extra = {}) const;
  /// The same; a failure of the program fails the test.
  std::string ok(std::vector<std::string> arguments, const std::string& input = {}) const;
  /// What it prints with --json, which must be one object a line.
  std::vector<boost::json::object> json(std::vector<std::string> arguments) const;

  /// Enqueues one task and returns its id.
  std::string add(std::vector<std::string> arguments) const;
  std::string state_of(const std::string& id) const;

  TempStore store_;

 private:
  std::vector<std::string> command(std::vector<std::string> arguments) const;
};

std::vector<std::string> lines_of(const std::string& text);

}  // namespace holdfast::test
