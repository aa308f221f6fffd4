#include <holdfast/ids.hpp>

#include <sys/random.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace holdfast {

namespace {

constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
using Bytes = std::array<std::uint8_t, 16>;

void put_time(Bytes& bytes, std::uint64_t millis) {
  for (int i = 5; i >= 0; --i, millis >>= 8) bytes[static_cast<std::size_t>(i)] = millis & 0xff;
}

void fill_random(Bytes& bytes) {
  if (::getrandom(bytes.data() + 6, 10, 0) != 10) throw std::runtime_error{"getrandom failed"};
  bytes[6] &= 0x7f;  // room to count upwards within a millisecond
}

void count_up(Bytes& bytes) {
  for (std::size_t i = 16; i-- > 0;) {
    if (++bytes[i] != 0) return;
  }
}

Bytes next_bytes() {
  static std::mutex mutex;
  static Bytes last{};
  static std::uint64_t last_millis = 0;
  auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  auto millis = static_cast<std::uint64_t>(now.count());
  std::lock_guard lock{mutex};
  if (millis > last_millis) {
    last_millis = millis;
    put_time(last, millis);
    fill_random(last);
  } else {
    count_up(last);
  }
  return last;
}

constexpr int no_digit = -1;

/// The value of each character, in either case.
constexpr auto digits_of_characters = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    auto c = static_cast<unsigned char>(alphabet[i]);
    values[c] = static_cast<std::int8_t>(i);
    if (c >= 'A') values[c - 'A' + 'a'] = static_cast<std::int8_t>(i);
  }
  return values;
}();

std::string encode(const Bytes& bytes) {
  std::string text(26, '0');
  unsigned bits = 0, filled = 0;
  std::size_t at = 26;
  for (std::size_t i = 16; i-- > 0;) {
    bits |= static_cast<unsigned>(bytes[i]) << filled;
    filled += 8;
    for (; filled >= 5; filled -= 5, bits >>= 5) text[--at] = alphabet[bits & 31];
  }
  text[--at] = alphabet[bits & 31];
  return text;
}

std::optional<Bytes> decode(std::string_view text) {
  if (text.size() != 26) return {};
  Bytes bytes{};
  unsigned bits = 0, filled = 0;
  std::size_t at = 16;
  for (std::size_t i = 26; i-- > 0;) {
    int digit = digits_of_characters[static_cast<unsigned char>(text[i])];
    if (digit == no_digit || (i == 0 && digit > 7)) return {};
    bits |= static_cast<unsigned>(digit) << filled;
    filled += 5;
    if (filled >= 8 && at > 0) {
      bytes[--at] = bits & 0xff;
      filled -= 8, bits >>= 8;
    }
  }
  return bytes;
}

}  // namespace

template <class Tag>
Id<Tag> Id<Tag>::make() {
  return {next_bytes()};
}

template <class Tag>
std::optional<Id<Tag>> Id<Tag>::parse(std::string_view text) {
  auto bytes = decode(text);
  if (!bytes) return {};
  return Id{*bytes};
}

template <class Tag>
std::string Id<Tag>::text() const {
  return encode(bytes);
}

template struct Id<TaskTag>;
template struct Id<WorkerTag>;
template struct Id<ReportTag>;

}  // namespace holdfast
