#include "engines/sqlite/worker_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "engines/sqlite/file_lock.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr auto time_to_get_ready = std::chrono::minutes{1};

bool too_old(const fs::path& path) {
  std::error_code gone;
  auto written = fs::last_write_time(path, gone);
  return !gone && fs::file_time_type::clock::now() - written > time_to_get_ready;
}

}  // namespace

WorkerFiles WorkerFiles::look(const SideFiles& files) {
  WorkerFiles found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{files.workers(), gone}) {
    const auto& path = entry.path();
    auto name = path.filename().string();
    auto file = look_at_private(path);
    if (!file) continue;
    bool held = is_locked(file.get());
    if (auto id = WorkerId::parse(name)) {
      found.locked_[*id] = held;
    } else if (name.starts_with(".new-") && !held && too_old(path)) {
      ::unlink(path.c_str());
    }
  }
  return found;
}

std::optional<bool> WorkerFiles::locked(WorkerId id) const {
  auto found = locked_.find(id);
  if (found == locked_.end()) return {};
  return found->second;
}

}  // namespace holdfast::sqlite
