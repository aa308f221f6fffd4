#pragma once

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "server/wire_call.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// Tests of `holdfast serve` as a process of its own, on a store of its own and what else is named.
class Serve : public testing::Test {
 protected:
  std::vector<std::string> command(std::vector<std::string> words) const {
    if (std::ranges::find(words, "--listen") == words.end())
      words.insert(words.end(), {"--listen", "127.0.0.1:0"});
    words.insert(words.begin(), {HOLDFAST_PROGRAM, "--json", "serve", "--store", store_address_});
    return words;
  }
  std::string refusal(const std::vector<std::string>& words) const {
    auto done = test::run(command(words));
    EXPECT_EQ(done.ending.code, 1) << done.out << done.err;
    return done.err;
  }
  struct Running {
    Process process;
    int port = 0;
    std::string login{}, login_file{}, token{};
  };
  Running start(const std::vector<std::string>& words = {}) {
    Running running{Process{command(words)}};
    EXPECT_TRUE(eventually([&] { return running.process.out().find('\n') != std::string::npos; },
                           std::chrono::seconds{60}))
        << running.process.err();
    const auto told = boost::json::parse(running.process.out());
    const std::string url{told.at("url").as_string()};
    running.port = std::stoi(url.substr(url.rfind(':') + 1));
    running.login_file = told.at("login_file").as_string();
    std::ifstream{running.login_file} >> running.login;
    std::ifstream file{std::string{told.at("token_file").as_string()}};
    file >> running.token;
    return running;
  }
  Answer get(const Running& running, const std::string& target) {
    return call(running.port, "GET", target, {}, {{"Authorization", "Bearer " + running.token}});
  }

  TempStore store_;
  std::string store_address_ = store_.address();
};

}  // namespace holdfast::test
