#include "server/secrets.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::server {

namespace {

constexpr std::size_t secret_bytes = 32;

void start_sodium() {
  if (sodium_init() < 0) throw ConfigError{"libsodium would not start, so there are no secrets"};
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string text(size * 2 + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes, size);
  text.pop_back();
  return text;
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw ConfigError{fmt::format("{} cannot be {}: {}", path, what, std::strerror(errno))};
}

/// Writes `content` to a new file beside `path`, on disk when it returns.
std::string write_beside(const std::string& path, std::string_view content) {
  const std::string beside = fmt::format("{}.{}", path, random_secret().substr(0, 8));
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) refuse(beside, "made");
  const bool written =
      ::write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fsync(file) == 0;
  ::close(file);
  if (!written) refuse(beside, "written");
  return beside;
}

void make_secret_file(const std::string& path) {
  const auto beside = write_beside(path, random_secret() + "\n");
  // Linked, not renamed: where two servers start at once, the first one's secret stays.
  const bool made = ::link(beside.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const int why = errno;
  ::unlink(beside.c_str());
  errno = why;
  if (!made) refuse(path, "made");
}

}  // namespace

std::string random_secret() {
  start_sodium();
  unsigned char bytes[secret_bytes];
  randombytes_buf(bytes, sizeof bytes);
  return hex(bytes, sizeof bytes);
}

std::string fingerprint(std::string_view text) {
  start_sodium();
  unsigned char hash[secret_bytes];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  return hex(hash, sizeof hash);
}

bool same_secret(std::string_view one, std::string_view other) {
  // Of the same length whatever was given, so that the length is not told either.
  const auto first = fingerprint(one), second = fingerprint(other);
  return sodium_memcmp(first.data(), second.data(), first.size()) == 0;
}

std::string secret_in_file(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) make_secret_file(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) refuse(path, "read");
  if ((status.st_mode & 077) != 0)
    throw ConfigError{fmt::format(
        "{} can be read by others, so it is no secret; remove it, and a new one is made", path)};
  std::ifstream file{path};
  std::string secret;
  file >> secret;
  if (secret.size() < secret_bytes)
    throw ConfigError{fmt::format("{} holds no token; remove it, and a new one is made", path)};
  return secret;
}

void write_private_file(const std::string& path, std::string_view content) {
  const auto beside = write_beside(path, content);
  if (::rename(beside.c_str(), path.c_str()) != 0) refuse(path, "replaced");
}

void make_private_folder(const std::string& path) {
  const std::filesystem::path folder{path};
  std::error_code failed;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), failed);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) refuse(path, "made");
}

}  // namespace holdfast::server
