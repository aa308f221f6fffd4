#include "scenario/cli_scenario.hpp"

#include <sstream>

#include <boost/json/parse.hpp>

namespace holdfast::test {

std::vector<std::string> CliScenario::command(std::vector<std::string> arguments) const {
  std::vector<std::string> words{HOLDFAST_PROGRAM, "--store", store_.address()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Finished CliScenario::cli(std::vector<std::string> arguments, const std::string& input) const {
  return run(command(std::move(arguments)), {}, input);
}

Process CliScenario::start(std::vector<std::string> arguments, const Environment& extra) const {
  return Process{command(std::move(arguments)), extra};
}

std::string CliScenario::ok(std::vector<std::string> arguments, const std::string& input) const {
  const Finished finished = cli(std::move(arguments), input);
  EXPECT_TRUE(finished.ending.ok()) << "exit " << finished.ending.code << "\n" << finished.err;
  return finished.out;
}

std::vector<boost::json::object> CliScenario::json(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), "--json");
  std::vector<boost::json::object> documents;
  for (const std::string& line : lines_of(ok(std::move(arguments))))
    documents.push_back(boost::json::parse(line).as_object());
  return documents;
}

std::string CliScenario::add(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"task", "add"});
  const auto ids = lines_of(ok(std::move(arguments)));
  EXPECT_EQ(ids.size(), 1U);
  return ids.empty() ? std::string{} : ids.front();
}

std::string CliScenario::state_of(const std::string& id) const {
  const auto documents = json({"task", "show", id});
  return documents.empty() ? std::string{} : std::string{documents.front().at("state").as_string()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace holdfast::test
