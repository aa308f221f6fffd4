#include "support/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

constexpr std::array<std::string_view, 9> words = {"enqueueing", "enqueued",  "started",
                                                   "follow_up",  "recording", "recorded",
                                                   "returned",   "settled",   "refused"};

std::chrono::microseconds now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

JournalLine parse(const std::string& line, const std::string& file) {
  std::istringstream fields{line};
  std::int64_t at = 0, token = 0;
  std::string word, task, text;
  fields >> at >> word >> task >> token;
  std::getline(fields >> std::ws, text);
  auto found = std::find(words.begin(), words.end(), word);
  auto id = TaskId::parse(task);
  if (found == words.end() || !id)
    throw std::runtime_error{fmt::format("not a journal line in {}: {}", file, line)};
  return {std::chrono::microseconds{at}, static_cast<Said>(found - words.begin()), *id,
          Token{token}, text};
}

void read_file(const std::filesystem::path& path, std::vector<JournalLine>& lines) {
  std::ifstream file{path};
  std::string line;
  // A line without its end was being written when the process was killed: it was not said.
  while (std::getline(file, line))
    if (!file.eof()) lines.push_back(parse(line, path));
}

}  // namespace

Journal::Journal(const std::string& folder) {
  auto path = fmt::format("{}/{}-{}", folder, ::getpid(), now().count());
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd_ < 0) throw std::runtime_error{"cannot write a journal to " + path};
}

Journal::~Journal() { ::close(fd_); }

void Journal::say(Said said, TaskId task, Token token, std::string_view text) const {
  auto line = fmt::format("{} {} {} {} {}\n", now().count(), words[static_cast<std::size_t>(said)],
                          task.text(), token.value, text);
  if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error{"cannot write the journal"};
}

std::vector<JournalLine> read_journals(const std::string& folder) {
  std::vector<JournalLine> lines;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    read_file(entry.path(), lines);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return lines;
}

}  // namespace holdfast::test
