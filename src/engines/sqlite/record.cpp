#include <bit>

#include "engines/sqlite/page_bytes.hpp"
#include "engines/sqlite/page_file.hpp"

namespace holdfast::sqlite {

namespace {

/// How many bytes a value of this type has; nothing for types that are not used.
std::optional<std::uint64_t> size_of(std::uint64_t type) {
  constexpr std::uint64_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < 10) return sizes[type];
  if (type < 12) return {};
  return (type - 12) / 2;
}

std::int64_t read_integer(Bytes bytes) {
  // The sign is in the first byte.
  std::uint64_t value = bytes[0] & 0x80 ? ~std::uint64_t{0} : 0;
  for (auto byte : bytes) value = value << 8 | byte;
  return static_cast<std::int64_t>(value);
}

SqlValue decode_value(std::uint64_t type, Bytes bytes) {
  switch (type) {
    case 0:
      return std::monostate{};
    case 7:
      return std::bit_cast<double>(read_integer(bytes));
    case 8:
    case 9:
      return static_cast<std::int64_t>(type - 8);
    default:
      break;
  }
  if (type < 12) return read_integer(bytes);
  if (type % 2 == 0) return Blob(bytes.begin(), bytes.end());
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

std::optional<Record> decode_record(Bytes bytes) {
  std::size_t at = 0;
  auto header = read_varint(bytes, at);
  if (!header || *header > bytes.size() || *header < at) return {};
  Record record;
  std::uint64_t body = *header;
  while (at < *header) {
    auto type = read_varint(bytes.first(*header), at);
    if (!type) return {};
    auto size = size_of(*type);
    if (!size || *size > bytes.size() - body) return {};
    record.push_back(decode_value(*type, bytes.subspan(body, *size)));
    body += *size;
  }
  if (body != bytes.size()) return {};
  return record;
}

}  // namespace holdfast::sqlite
