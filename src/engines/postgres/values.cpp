#include "engines/postgres/values.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::postgres {

namespace {

template <class T>
void append(std::string& bytes, T number) {
  for (int shift = (static_cast<int>(sizeof number) - 1) * 8; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

std::uint32_t read_word(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(read_integer(bytes.substr(at, 4)));
}

/// How many bytes the character at `at` has; 0: that is no UTF-8, or a zero, which PostgreSQL's
/// text cannot hold.
std::size_t character_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  auto first = byte(0);
  if (first < 0x80) return first == 0 ? 0 : 1;
  std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool not_a_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return too_long || not_a_character ? 0 : size;
}

/// What a handler says is not always text, and a settlement must not fail for that.
std::string storable(std::string_view text) {
  std::string clean;
  std::size_t good = 0;  // so far, since the last that was replaced
  for (std::size_t at = 0; at < text.size();) {
    auto size = character_at(text, at);
    if (size == 0) {
      clean.append(text.substr(good, at - good)).append("\xEF\xBF\xBD");
      good = at + 1;
    }
    at += std::max<std::size_t>(size, 1);
  }
  return clean.append(text.substr(good));
}

Type array_of(Type element) {
  switch (element) {
    case Type::boolean:
      return Type::booleans;
    case Type::bigint:
      return Type::bigints;
    case Type::uuid:
      return Type::uuids;
    default:
      return Type::texts;
  }
}

template <class Ids>
Value ids_value(const Ids& ids) {
  Array array{Type::uuid};
  for (const auto& id : ids) array.add(id);
  return array.value();
}

}  // namespace

Value to_value(std::int64_t number) {
  Value value{Type::bigint};
  append(value.bytes, static_cast<std::uint64_t>(number));
  return value;
}

Value to_value(double number) {
  Value value{Type::real};
  append(value.bytes, std::bit_cast<std::uint64_t>(number));
  return value;
}

Value to_value(std::string_view text) { return {Type::text, false, storable(text)}; }

Value to_value(bool yes) { return {Type::boolean, false, std::string(1, yes ? '\1' : '\0')}; }

Value uuid_value(std::span<const std::uint8_t, 16> bytes) {
  return {Type::uuid, false, std::string{reinterpret_cast<const char*>(bytes.data()), 16}};
}

Array::Array(Type element) : element_{element} {}

void Array::add_bytes(std::string_view bytes) {
  append(bytes_, static_cast<std::uint32_t>(bytes.size()));
  bytes_.append(bytes);
  ++count_;
}

void Array::add_null() {
  append(bytes_, ~std::uint32_t{0});
  ++count_;
}

Value Array::value() const {
  Value value{array_of(element_)};
  auto& bytes = value.bytes;
  bytes.reserve(bytes_.size() + 20);
  append(bytes, std::uint32_t{count_ == 0 ? 0u : 1u});  // dimensions
  append(bytes, std::uint32_t{1});                      // there may be NULLs
  append(bytes, static_cast<std::uint32_t>(element_));
  if (count_ == 0) return value;
  append(bytes, static_cast<std::uint32_t>(count_));
  append(bytes, std::uint32_t{1});  // the first index
  bytes += bytes_;
  return value;
}

Value to_value(const std::vector<std::string>& texts) {
  Array array{Type::text};
  for (const auto& text : texts) array.add(text);
  return array.value();
}

Value to_value(std::span<const TaskId> ids) { return ids_value(ids); }
Value to_value(std::span<const WorkerId> ids) { return ids_value(ids); }

std::int64_t read_integer(std::string_view bytes) {
  if (bytes.empty()) return 0;
  // The sign is in the first byte.
  std::uint64_t number = bytes[0] & 0x80 ? ~std::uint64_t{0} : 0;
  if (bytes.size() == 1) number = 0;  // a boolean
  for (char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<std::int64_t>(number);
}

double read_real(std::string_view bytes) {
  return bytes.size() == 8 ? std::bit_cast<double>(read_integer(bytes)) : 0;
}

std::vector<std::string_view> read_array(std::string_view bytes) {
  std::vector<std::string_view> elements;
  if (bytes.size() < 20 || read_word(bytes, 0) != 1) return elements;
  auto count = read_word(bytes, 12);
  std::size_t at = 20;
  for (std::uint32_t i = 0; i < count && at + 4 <= bytes.size(); ++i) {
    auto size = read_word(bytes, at);
    at += 4;
    if (size == ~std::uint32_t{0} || size > bytes.size() - at) continue;
    elements.push_back(bytes.substr(at, size));
    at += size;
  }
  return elements;
}

}  // namespace holdfast::postgres
