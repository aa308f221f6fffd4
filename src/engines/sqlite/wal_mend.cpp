#include "engines/sqlite/wal_mend.hpp"

#include <bit>

namespace holdfast::sqlite {

namespace {

using Bytes = std::span<const std::uint8_t>;

/// More than a few single flips is no accident that this could mend.
constexpr std::size_t most_flips = 16;

std::uint32_t word_at(Bytes bytes, std::size_t at, bool big_endian) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::uint32_t{bytes[at + i]} << (big_endian ? 24 - 8 * i : 8 * i);
  }
  return word;
}

/// Bit `bit` of the word at `offset`, as a place in the file.
Flip place(std::uint64_t offset, int bit, bool big_endian) {
  auto byte = static_cast<std::uint64_t>(big_endian ? 3 - bit / 8 : bit / 8);
  return {offset + byte, static_cast<std::uint8_t>(1 << bit % 8)};
}

/// Nothing unless the two differ in one bit.
std::optional<Flip> one_bit(std::uint32_t a, std::uint32_t b, std::uint64_t offset) {
  if (!std::has_single_bit(a ^ b)) return {};
  return place(offset, std::countr_zero(a ^ b), true);
}

std::optional<Flip> flip_in_pair(std::uint32_t a1, std::uint32_t a2, std::uint32_t b1,
                                 std::uint32_t b2, std::uint64_t offset) {
  if (a2 == b2) return one_bit(a1, b1, offset);
  if (a1 == b1) return one_bit(a2, b2, offset + 4);
  return {};
}

/// How much the checksum grows when a word grows by one.
struct Weight {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  /// The same for the word two places before: one more round of the checksum comes after it.
  Weight earlier() const { return {first + second, first + 2 * second}; }
};

/// Every bit of `bytes` whose flipping would make the checksum grow by `missing`. The checksum is a
/// sum of weighted words, so each can be tried without computing it again. Flips of the upper bits
/// of a word look the same in several places: their weights count modulo small powers of two.
std::vector<std::size_t> flipped_bits(Bytes bytes, WalSum missing, bool big_endian) {
  std::vector<std::size_t> found;
  Weight weights[2] = {{1, 1}, {0, 1}};
  for (std::size_t pair = bytes.size() / 8; pair-- > 0;) {
    for (std::size_t half = 0; half < 2; ++half) {
      auto at = pair * 8 + half * 4;
      auto word = word_at(bytes, at, big_endian);
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        auto value = std::uint32_t{1} << bit;
        auto delta = word & value ? 0 - value : value;
        if (WalSum{delta * weights[half].first, delta * weights[half].second} == missing)
          found.push_back(at * 8 + bit);
      }
      weights[half] = weights[half].earlier();
    }
  }
  return found;
}

/// Where several bits would do, the page as it was before this frame tells them apart: most of a
/// page stays what it was, and a flip shows as the only bit in which a word differs.
std::optional<std::size_t> most_likely(const std::vector<std::size_t>& candidates, Bytes summed,
                                       Bytes older, bool big_endian) {
  if (candidates.size() == 1) return candidates.front();
  std::vector<std::size_t> only_change, changed;
  for (auto bit : candidates) {
    auto at = bit / 32 * 4;
    if (older.empty() || at < FrameHeader::summed) {
      changed.push_back(bit);
      continue;
    }
    auto now = word_at(summed, at, big_endian);
    auto before = word_at(older, at - FrameHeader::summed, big_endian);
    if ((now ^ before) == std::uint32_t{1} << bit % 32) only_change.push_back(bit);
    if (now != before) changed.push_back(bit);
  }
  if (only_change.size() == 1) return only_change.front();
  if (only_change.empty() && changed.size() == 1) return changed.front();
  return {};
}

/// A page as the readable frames before `frame`, else the database, have it. Empty if nowhere.
std::vector<std::uint8_t> older_version(const WalSource& source, const WalScan& scan, int frame,
                                        std::uint32_t page) {
  std::vector<std::uint8_t> older(scan.header.page_size);
  for (int number = frame - 1; number > 0; --number) {
    std::uint8_t header[FrameHeader::bytes] = {};
    if (source.log(scan.offset_of(number), header) != sizeof header) return {};
    if (FrameHeader::parse(header).page != page) continue;
    auto got = source.log(scan.offset_of(number) + sizeof header, older);
    return got == older.size() ? older : std::vector<std::uint8_t>{};
  }
  auto got = page == 0 || !source.database ? 0 : source.database((page - 1) * older.size(), older);
  return got == older.size() ? older : std::vector<std::uint8_t>{};
}

/// The one bit that makes a header of these bytes which fits to the frames.
std::optional<Flip> flip_in_header(const ReadAt& log, std::uint64_t size) {
  std::uint8_t bytes[WalHeader::bytes] = {};
  if (log(0, bytes) != sizeof bytes) return {};
  std::vector<Flip> found;
  for (std::size_t bit = 0; bit < sizeof bytes * 8; ++bit) {
    Flip flip{bit / 8, static_cast<std::uint8_t>(1 << bit % 8)};
    bytes[flip.offset] ^= flip.mask;
    if (WalHeader::parse(bytes) && scan_wal(without_flips(log, {flip}), size).sound > 0)
      found.push_back(flip);
    bytes[flip.offset] ^= flip.mask;
  }
  if (found.size() != 1) return {};
  return found.front();
}

/// Whether a frame is whole if the checksum before it is `before`.
bool continues(const ReadAt& log, const WalScan& scan, int number, WalSum before) {
  std::vector<std::uint8_t> bytes(FrameHeader::bytes + scan.header.page_size);
  if (log(scan.offset_of(number), bytes) != bytes.size()) return false;
  auto big_endian = scan.header.big_endian;
  auto sum = add_to_sum(before, Bytes{bytes}.first(FrameHeader::summed), big_endian);
  sum = add_to_sum(sum, Bytes{bytes}.subspan(FrameHeader::bytes), big_endian);
  return sum == FrameHeader::parse(bytes).sum;
}

std::optional<Flip> flip_in_frame(const WalSource& source, const WalScan& scan, int number) {
  auto before = scan.header.sum;
  if (number > 1) {
    std::uint8_t previous[FrameHeader::bytes] = {};
    if (source.log(scan.offset_of(number - 1), previous) != sizeof previous) return {};
    before = FrameHeader::parse(previous).sum;
  }
  auto offset = scan.offset_of(number);
  std::vector<std::uint8_t> bytes(FrameHeader::bytes + scan.header.page_size);
  if (source.log(offset, bytes) != bytes.size()) return {};
  auto frame = FrameHeader::parse(bytes);

  // What the checksum covers, in one piece.
  std::vector<std::uint8_t> summed(bytes.begin(), bytes.begin() + FrameHeader::summed);
  summed.insert(summed.end(), bytes.begin() + FrameHeader::bytes, bytes.end());
  bool big_endian = scan.header.big_endian;
  auto sum = add_to_sum(before, summed, big_endian);

  auto salt = scan.header.salt;
  if (frame.salt != salt) {
    // Frames of other generations have other salts altogether, and another checksum before them.
    if (sum != frame.sum) return {};
    return flip_in_pair(frame.salt.first, frame.salt.second, salt.first, salt.second, offset + 8);
  }
  WalSum missing{frame.sum.first - sum.first, frame.sum.second - sum.second};
  auto candidates = flipped_bits(summed, missing, big_endian);
  auto in_sum = flip_in_pair(frame.sum.first, frame.sum.second, sum.first, sum.second, offset + 16);
  // The frame after this one continues the checksum that this one should have.
  if (in_sum && (candidates.empty() || continues(source.log, scan, number + 1, sum))) return in_sum;
  if (in_sum && !continues(source.log, scan, number + 1, frame.sum)) return {};
  auto older = older_version(source, scan, number, frame.page);
  auto bit = most_likely(candidates, summed, older, big_endian);
  if (!bit) return {};
  auto at = *bit / 32 * 4;
  if (at >= FrameHeader::summed) at += FrameHeader::bytes - FrameHeader::summed;
  return place(offset + at, static_cast<int>(*bit % 32), big_endian);
}

}  // namespace

ReadAt without_flips(ReadAt read, std::vector<Flip> flips) {
  return [read = std::move(read), flips = std::move(flips)](std::uint64_t offset,
                                                            std::span<std::uint8_t> into) {
    auto got = read(offset, into);
    for (const auto& flip : flips) {
      if (flip.offset >= offset && flip.offset - offset < got) {
        into[flip.offset - offset] ^= flip.mask;
      }
    }
    return got;
  };
}

std::vector<Flip> find_flips(const WalSource& source, WalScan& scan) {
  std::vector<Flip> flips;
  while (flips.size() < most_flips && scan.beginning != WalScan::Beginning::empty) {
    WalSource mended{without_flips(source.log, flips), source.database};
    auto flip = scan.beginning == WalScan::Beginning::damaged
                    ? flip_in_header(mended.log, scan.bytes)
                    : flip_in_frame(mended, scan, scan.sound + 1);
    if (!flip) break;
    auto after = scan_wal(without_flips(mended.log, {*flip}), scan.bytes);
    // A frame for page zero has a good checksum and is no frame all the same.
    if (after.sound <= scan.sound) break;
    flips.push_back(*flip);
    scan = after;
  }
  return flips;
}

}  // namespace holdfast::sqlite
