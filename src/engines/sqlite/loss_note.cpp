#include "engines/sqlite/loss_note.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "engines/sqlite/file_lock.hpp"
#include "recovery/private_content.hpp"

namespace holdfast::sqlite {

namespace {

[[noreturn]] void throw_note_error(const std::string& path) {
  throw StoreError{fmt::format("cannot change {}: {}", path, std::strerror(errno))};
}

/// `ID sentence`, or `- sentence` where it is about no single task.
std::string line_of(const Damage& loss) {
  return fmt::format("{} {}\n", loss.task ? loss.task->text() : "-", loss.what);
}

Damage loss_of(const std::string& line) {
  auto space = line.find(' ');
  auto task = TaskId::parse(line.substr(0, space));
  auto what = space == std::string::npos ? line : line.substr(space + 1);
  return {task ? Damage::Kind::lost : Damage::Kind::wal, what, task};
}

}  // namespace

std::optional<LossNote> LossNote::read(const SideFiles& files) {
  std::istringstream file{read_private_file(files.lost())};
  LossNote note;
  if (!std::getline(file, note.about)) return {};
  std::getline(file, note.reason);
  for (std::string line; std::getline(file, line);) note.losses.push_back(loss_of(line));
  return note;
}

void LossNote::write(const SideFiles& files) const {
  auto path = files.lost(), making = path + ".new";
  auto text = about + "\n" + reason + "\n";
  for (const auto& loss : losses) text += line_of(loss);
  {
    auto file = open_private(making, O_WRONLY | O_CREAT | O_TRUNC);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(file.get()) != 0)
      throw_note_error(making);
  }
  if (::rename(making.c_str(), path.c_str()) != 0) throw_note_error(path);
  auto folder = open_file(files.folder(), O_RDONLY | O_DIRECTORY);
  if (::fsync(folder.get()) != 0) throw_note_error(path);
}

void LossNote::forget(const SideFiles& files) {
  if (::unlink(files.lost().c_str()) != 0 && errno != ENOENT) throw_note_error(files.lost());
}

}  // namespace holdfast::sqlite
