#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "http/processor_scenario.hpp"

namespace holdfast::http {

/// Processors as processes of their own, which can be killed.
class ProgramScenario : public ProcessorScenario {
 protected:
  std::vector<std::string> command(std::vector<std::string> words) const {
    std::vector<std::string> line{HOLDFAST_PROGRAM, "--store", store_.address()};
    line.insert(line.end(), words.begin(), words.end());
    return line;
  }
  test::Finished cli(const std::vector<std::string>& words) const {
    return test::run(command(words));
  }
  std::vector<std::string> run_words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"http", "run", "--allow-private", "--capacity", "1000"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Allows the secret in `file` to go to `server`.
  static void bind(const std::filesystem::path& file, const test::HttpServer& server) {
    std::ofstream{file.string() + ".bind"} << "host " << bound_to(server).hosts.at(0) << "\n";
  }

  void enqueue(const std::string& url, int count, OnAmbiguous on_ambiguous = OnAmbiguous::retry) {
    Client client{engine_};
    std::vector<Request> requests;
    for (int i = 0; i < count; ++i) {
      auto one = call(std::to_string(i));
      one.on_ambiguous = on_ambiguous;
      one.body = "order";
      requests.push_back(client.build(Method::post, url, one));
    }
    client.enqueue_all(requests);
  }

  /// Every request has its callback, and each was called once.
  void expect_each_told_once(int count, const PayloadOptions& payloads = {}) {
    EXPECT_EQ(inspector_.count({.states = {TaskState::completed}, .kind = request_kind}), count);
    EXPECT_EQ(inspector_.count({.kind = "keep"}), count) << "callbacks";
    auto told = call_back(payloads);
    EXPECT_EQ(told.calls, count);
    EXPECT_EQ(told.responses.size(), static_cast<std::size_t>(count));
  }
};

}  // namespace holdfast::http
