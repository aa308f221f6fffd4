#include "engines/sqlite/wal_backfill.hpp"

#include <bit>
#include <map>
#include <vector>

namespace holdfast::sqlite {

namespace {

constexpr std::size_t page_size_at = 16;

std::uint32_t page_size_of(const ReadAt& database) {
  std::uint8_t bytes[2] = {};
  if (database(page_size_at, bytes) != sizeof bytes) return 0;
  std::uint32_t size = std::uint32_t{bytes[0]} << 8 | bytes[1];
  return size == 1 ? 65'536 : size;
}

/// Where the last image of each page is, in the newest generation of frames. A generation has a
/// greater first salt than the one before, whose frames may lie behind its own.
std::map<std::uint32_t, std::uint64_t> newest_images(const ReadAt& log, std::uint64_t size,
                                                     std::uint32_t page_size) {
  std::map<std::uint32_t, std::uint64_t> images;
  std::vector<std::uint8_t> frame(FrameHeader::bytes + page_size);
  std::span<const std::uint8_t> bytes{frame};
  bool big_endian = std::endian::native == std::endian::big;
  std::uint32_t newest = 0;
  FrameHeader before{};
  for (auto at = std::uint64_t{WalHeader::bytes}; at + frame.size() <= size; at += frame.size()) {
    if (log(at, frame) != frame.size()) break;
    auto now = FrameHeader::parse(frame);
    auto sum = add_to_sum(before.sum, bytes.first(FrameHeader::summed), big_endian);
    sum = add_to_sum(sum, bytes.subspan(FrameHeader::bytes), big_endian);
    bool whole = now.page != 0 && now.salt == before.salt && sum == now.sum;
    before = now;
    if (!whole || now.salt.first < newest) continue;
    if (now.salt.first > newest) images.clear();
    newest = now.salt.first;
    images[now.page] = at + FrameHeader::bytes;
  }
  return images;
}

}  // namespace

bool all_in_database(const ReadAt& log, std::uint64_t size, const ReadAt& database) {
  auto page_size = page_size_of(database);
  if (page_size < 512 || !std::has_single_bit(page_size)) return false;
  std::vector<std::uint8_t> logged(page_size), there(page_size);
  for (auto [page, at] : newest_images(log, size, page_size)) {
    auto offset = std::uint64_t{page - 1} * page_size;
    if (log(at, logged) != page_size || database(offset, there) != page_size) return false;
    if (logged != there) return false;
  }
  return true;
}

}  // namespace holdfast::sqlite
