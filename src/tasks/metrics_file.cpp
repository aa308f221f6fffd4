#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/metrics.hpp>

#include "recovery/file_lock.hpp"

namespace holdfast {

MetricsFile::MetricsFile(const Engine& engine, std::string path, std::chrono::milliseconds every)
    : engine_{engine},
      metrics_{count_events(engine)},
      path_{std::move(path)},
      common_{{"store", engine.name()}, {"process", std::filesystem::path{path_}.stem().string()}} {
  write();
  thread_ = std::jthread{[this, every](std::stop_token stop) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      never.wait_for(lock, stop, every, [] { return false; });
      try {
        write();  // also when it ends: the last numbers are the whole story
      } catch (const Error& error) {
        engine_.events().emit(StoreTrouble{"writing the metrics file", error.what()});
      }
    }
  }};
}

void MetricsFile::write() const {
  auto next = fmt::format("{}.{}.tmp", path_, ::getpid());
  {
    // Not through a link that another user may have left there.
    ::unlink(next.c_str());
    const FileDescriptor file{
        ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
    const auto text = metrics_->text(common_);
    if (!file || ::write(file.get(), text.data(), text.size()) != std::ssize(text)) {
      auto why = std::strerror(errno);
      ::unlink(next.c_str());
      throw ConfigError{fmt::format(
          "cannot write the metrics file {}: {}; name a file in a folder that can be written to",
          path_, why)};
    }
  }
  if (std::rename(next.c_str(), path_.c_str()) != 0) {
    auto why = std::strerror(errno);
    ::unlink(next.c_str());
    throw ConfigError{fmt::format("cannot replace the metrics file {}: {}", path_, why)};
  }
}

}  // namespace holdfast
