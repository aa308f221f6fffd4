#include "machine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "samples.hpp"

namespace holdfast::bench {

namespace {

/// The type of the file system that `folder` is on: of its mount points the longest that fits.
std::string file_system_of(const std::filesystem::path& folder) {
  auto wanted = std::filesystem::canonical(folder).string();
  std::ifstream mounts{"/proc/self/mounts"};
  std::string line, best_type = "unknown file system";
  std::size_t best = 0;
  while (std::getline(mounts, line)) {
    std::istringstream words{line};
    std::string device, place, type;
    words >> device >> place >> type;
    bool fits = wanted.starts_with(place) &&
                (place == "/" || wanted.size() == place.size() || wanted[place.size()] == '/');
    if (!fits || place.size() < best) continue;
    best = place.size();
    best_type = type + " on " + device;
  }
  return best_type;
}

double median_sync_ms(const std::filesystem::path& folder) {
  auto path = folder / "sync";
  int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error{"cannot write in " + folder.string()};
  std::array<char, 4096> block{};
  std::vector<double> samples;
  for (int i = 0; i < 200; ++i) {
    if (::write(file, block.data(), block.size()) < 0) break;
    samples.push_back(1e3 * seconds([&] { ::fdatasync(file); }));
  }
  ::close(file);
  std::filesystem::remove(path);
  return median(samples);
}

std::string processor() {
  std::ifstream info{"/proc/cpuinfo"};
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with("model name")) continue;
    auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

Machine look_at_machine(const std::filesystem::path& folder) {
  utsname kernel{};
  ::uname(&kernel);
  struct sysinfo system {};
  ::sysinfo(&system);
  auto bytes = static_cast<double>(system.totalram) * system.mem_unit;
  return {.cores = static_cast<int>(std::thread::hardware_concurrency()),
          .processor = processor(),
          .memory = fmt::format("{:.0f} GiB", bytes / (1 << 30)),
          .kernel = kernel.release,
          .file_system = file_system_of(folder),
          .sync_ms = median_sync_ms(folder),
          .sqlite = sqlite3_libversion(),
          .compiler = "g++ " __VERSION__};
}

}  // namespace holdfast::bench
