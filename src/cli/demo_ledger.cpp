#include "cli/demo_ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

namespace holdfast::cli {

namespace {

void read_line(const std::string& line, int pid,
               std::map<TaskId, std::vector<DemoAttempt>>& orders) {
  std::istringstream fields{line};
  std::string what, id, text;
  std::int64_t token = 0, at = 0;
  fields >> what >> id >> token >> at >> text;
  const auto order = TaskId::parse(id);
  if (!order) return;
  auto& attempts = orders[*order];
  if (what == "started") {
    attempts.push_back({pid, Token{token}, DemoTime{at}});
    return;
  }
  const auto attempt = std::find_if(attempts.begin(), attempts.end(), [&](const DemoAttempt& one) {
    return one.token == Token{token};
  });
  if (attempt == attempts.end()) return;
  if (what == "charged") attempt->charge = text;
  if (what == "ended") attempt->ended = true;
}

}  // namespace

DemoTime demo_now() {
  return std::chrono::duration_cast<DemoTime>(std::chrono::steady_clock::now().time_since_epoch());
}

DemoLedger::DemoLedger(const std::string& folder) {
  const auto path = fmt::format("{}/{}", folder, ::getpid());
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) throw std::system_error{errno, std::generic_category(), "cannot write " + path};
}

DemoLedger::~DemoLedger() { ::close(fd_); }

void DemoLedger::started(TaskId order, Token token) const { write("started", order, token, "-"); }
void DemoLedger::charged(TaskId order, Token token, const std::string& charge) const {
  write("charged", order, token, charge);
}
void DemoLedger::ended(TaskId order, Token token) const { write("ended", order, token, "-"); }

void DemoLedger::write(const char* what, TaskId order, Token token, const std::string& text) const {
  const auto line =
      fmt::format("{} {} {} {} {}\n", what, order.text(), token.value, demo_now().count(), text);
  if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error{errno, std::generic_category(), "cannot write the ledger"};
}

std::map<TaskId, std::vector<DemoAttempt>> read_ledgers(const std::string& folder) {
  std::map<TaskId, std::vector<DemoAttempt>> orders;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const int pid = std::stoi(entry.path().filename());
    std::ifstream file{entry.path()};
    // A line without its end was being written when the worker was killed.
    for (std::string line; std::getline(file, line) && !file.eof();) read_line(line, pid, orders);
  }
  for (auto& [order, attempts] : orders)
    std::sort(attempts.begin(), attempts.end(),
              [](const auto& a, const auto& b) { return a.started < b.started; });
  return orders;
}

}  // namespace holdfast::cli
