#include "engines/sqlite/death_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <filesystem>

namespace holdfast::sqlite {

namespace {

constexpr Millis pause_between_looks{100};
/// A death that was told and is still not cleared away (a child process outlived its worker, or
/// whoever was told failed) is told again after this.
constexpr Millis pause_between_tellings{100};
/// A file's closing is announced just before the kernel drops its lock.
constexpr int looks_after_news = 5;

}  // namespace

DeathWatch::DeathWatch(const SideFiles& files, Inotify inotify)
    : folder_{files.workers()}, inotify_{std::move(inotify)} {
  inotify_.watch(folder_, IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_TO);
}

bool DeathWatch::wait(Millis timeout, std::stop_token stop) {
  Signal stopped;
  std::stop_callback wake{stop, [&] { stopped.raise(); }};
  auto deadline = std::chrono::steady_clock::now() + timeout;
  int quick_looks = 0;
  while (!stop.stop_requested()) {
    if (somebody_died()) return true;
    auto left = std::chrono::ceil<Millis>(deadline - std::chrono::steady_clock::now());
    if (left <= Millis{0}) return false;
    auto pause = std::min(left, quick_looks > 0 ? Millis{1} : pause_between_looks);
    pollfd sources[] = {{stopped.fd(), POLLIN, 0}, {inotify_.fd(), POLLIN, 0}};
    ::poll(sources, 2, static_cast<int>(pause.count()));
    quick_looks = (sources[1].revents & POLLIN) != 0 ? looks_after_news : quick_looks - 1;
  }
  return false;
}

bool DeathWatch::somebody_died() {
  std::lock_guard lock{mutex_};
  if (!inotify_.drain().empty() || !inotify_.usable()) listed_ = false;
  if (!listed_) list_files();
  auto now = std::chrono::steady_clock::now();
  bool died = false;
  for (auto& [name, watched] : files_) {
    if (is_locked(watched.file.get())) continue;
    if (now - watched.told < pause_between_tellings) continue;
    watched.told = now;
    died = true;
  }
  return died;
}

void DeathWatch::list_files() {
  std::map<std::string, Watched> there;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator{folder_, gone}) {
    auto name = entry.path().filename().string();
    if (!WorkerId::parse(name)) continue;
    if (auto known = files_.find(name); known != files_.end()) {
      there.insert(files_.extract(known));
    } else if (auto file = look_at_private(entry.path())) {
      there.emplace(name, Watched{std::move(file)});
    }
  }
  files_ = std::move(there);
  listed_ = true;
}

}  // namespace holdfast::sqlite
