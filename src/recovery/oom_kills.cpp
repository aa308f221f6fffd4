#include "recovery/oom_kills.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "recovery/file_lock.hpp"

namespace holdfast {

std::uint64_t oom_kills(const std::string& statistics) {
  FileDescriptor file{::open(statistics.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return 0;
  // The kernel writes the whole text anew for every read, so few large ones.
  std::string text = "\n";
  char part[16'384];
  for (ssize_t got; (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  constexpr std::string_view name = "\noom_kill ";
  auto found = text.find(name);
  std::uint64_t kills = 0;
  if (found != text.npos)
    std::from_chars(text.data() + found + name.size(), text.data() + text.size(), kills);
  return kills;
}

}  // namespace holdfast
