#include "server/secrets.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

void make_secret_file(const std::string& path) {
  const auto beside = fmt::format("{}.{}", path, random_secret().substr(0, 8));
  write_private_file(beside, random_secret() + "\n");
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
  struct stat status {};
  // Not what a link leads to: another user may have planted that.
  if (::lstat(path.c_str(), &status) != 0 && errno == ENOENT) make_secret_file(path);
  if (::lstat(path.c_str(), &status) != 0) refuse(path, "read");
  if (S_ISREG(status.st_mode) && (status.st_mode & 077) != 0)
    throw ConfigError{fmt::format(
        "{} can be read by others, so it is no secret; remove it, and a new one is made", path)};
  try {
    open_private(path, O_RDONLY);  // says what is wrong with it
  } catch (const StoreError& error) {
    throw ConfigError{error.what()};
  }
  const auto content = read_private_file(path);
  const auto secret = content.substr(0, content.find_first_of(" \t\r\n"));
  if (secret.size() < secret_bytes)
    throw ConfigError{fmt::format("{} holds no token; remove it, and a new one is made", path)};
  return secret;
}

}  // namespace holdfast::server
