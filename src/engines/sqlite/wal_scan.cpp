#include "engines/sqlite/wal_scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace holdfast::sqlite {

namespace {

constexpr std::uint32_t magic = 0x377f0682;  // the last bit says that words are big-endian
constexpr std::uint32_t format = 3'007'000;

template <bool swapped>
WalSum add_words(WalSum sum, const std::uint8_t* at, const std::uint8_t* end) {
  for (; at != end; at += 8) {
    std::uint32_t words[2];
    std::memcpy(words, at, sizeof words);
    if constexpr (swapped) {
      words[0] = __builtin_bswap32(words[0]);
      words[1] = __builtin_bswap32(words[1]);
    }
    sum.first += words[0] + sum.second;
    sum.second += words[1] + sum.first;
  }
  return sum;
}

bool plausible_page_size(std::uint32_t size) {
  return size >= 512 && size <= 65'536 && std::has_single_bit(size);
}

/// Where a header and the first frame would be. SQLite syncs a header before it writes frames, so a
/// power cut leaves both or none.
bool only_zeros(const ReadAt& read, std::uint64_t size) {
  std::uint8_t start[WalHeader::bytes + FrameHeader::bytes] = {};
  auto wanted = std::span{start}.first(std::min<std::size_t>(size, sizeof start));
  read(0, wanted);
  return std::ranges::all_of(wanted, [](std::uint8_t byte) { return byte == 0; });
}

/// Whether a frame is one of this generation, and whole, if the one before has the sum `before`.
bool is_whole(const WalHeader& header, WalSum before, std::span<const std::uint8_t> frame) {
  auto said = FrameHeader::parse(frame);
  if (said.salt != header.salt || said.page == 0) return false;
  auto sum = add_to_sum(before, frame.first(FrameHeader::summed), header.big_endian);
  return add_to_sum(sum, frame.subspan(FrameHeader::bytes), header.big_endian) == said.sum;
}

/// Whether frames `number` and the next follow each other in a log of this page size and byte
/// order: then a header that would have them.
std::optional<WalHeader> header_of_pair(const ReadAt& read, int number, WalHeader header) {
  std::vector<std::uint8_t> pair(2 * (FrameHeader::bytes + header.page_size));
  std::span<const std::uint8_t> bytes{pair};
  auto offset = WalHeader::bytes + static_cast<std::uint64_t>(number - 1) * pair.size() / 2;
  if (read(offset, pair) != pair.size()) return {};
  auto first = FrameHeader::parse(bytes);
  header.salt = first.salt;
  if (!is_whole(header, first.sum, bytes.subspan(pair.size() / 2))) return {};
  return header;
}

/// What a header that cannot be read must have said, as far as its frames tell.
std::optional<WalHeader> header_by_frames(const ReadAt& read) {
  constexpr int tries = 32;
  for (std::uint32_t page_size = 512; page_size <= 65'536; page_size *= 2)
    for (int number = 1; number <= tries; ++number)
      for (bool big_endian : {false, true})
        if (auto header = header_of_pair(read, number, {big_endian, page_size, {}, {}}))
          return header;
  return {};
}

/// Goes through the frames in order, with the checksum that the one before has in the file.
class FrameWalk {
 public:
  FrameWalk(const ReadAt& read, const WalHeader& header, std::uint64_t size)
      : read_{read},
        header_{header},
        frame_(FrameHeader::bytes + header.page_size),
        count_{static_cast<int>((size - WalHeader::bytes) / frame_.size())},
        before_{header.sum} {}

  /// False at the end.
  bool next() {
    if (number_ == count_) return false;
    auto offset = WalHeader::bytes + static_cast<std::uint64_t>(number_) * frame_.size();
    ++number_;
    return read_(offset, frame_) == frame_.size();
  }

  /// Whether the frame at hand is one of this generation, and whole.
  bool is_sound() {
    now_ = FrameHeader::parse(frame_);
    return is_whole(header_, std::exchange(before_, now_.sum), frame_);
  }
  bool is_commit() const { return now_.pages_after_commit != 0; }
  int number() const { return number_; }
  std::span<const std::uint8_t> page() const {
    return std::span{frame_}.subspan(FrameHeader::bytes);
  }

 private:
  const ReadAt& read_;
  const WalHeader& header_;
  std::vector<std::uint8_t> frame_;
  int count_;
  int number_ = 0;
  WalSum before_;
  FrameHeader now_{};
};

}  // namespace

WalSum add_to_sum(WalSum sum, std::span<const std::uint8_t> bytes, bool big_endian) {
  auto begin = bytes.data(), end = begin + bytes.size() / 8 * 8;
  return big_endian == (std::endian::native == std::endian::big) ? add_words<false>(sum, begin, end)
                                                                 : add_words<true>(sum, begin, end);
}

std::optional<WalHeader> WalHeader::parse(std::span<const std::uint8_t> from) {
  if (from.size() < bytes) return {};
  auto at = from.data();
  if ((big32(at) & ~1u) != magic || big32(at + 4) != format) return {};
  WalHeader header{(big32(at) & 1) != 0,
                   big32(at + 8),
                   {big32(at + 16), big32(at + 20)},
                   {big32(at + 24), big32(at + 28)}};
  if (!plausible_page_size(header.page_size)) return {};
  if (add_to_sum({}, from.first(24), header.big_endian) != header.sum) return {};
  return header;
}

FrameHeader FrameHeader::parse(std::span<const std::uint8_t> from) {
  auto at = from.data();
  return {
      big32(at), big32(at + 4), {big32(at + 8), big32(at + 12)}, {big32(at + 16), big32(at + 20)}};
}

std::uint64_t WalScan::offset_of(int frame) const {
  return WalHeader::bytes +
         static_cast<std::uint64_t>(frame - 1) * (FrameHeader::bytes + header.page_size);
}

WalScan scan_wal(const ReadAt& read, std::uint64_t size, const BeyondVisitor& beyond) {
  WalScan scan{.bytes = size};
  std::uint8_t start[WalHeader::bytes] = {};
  if (size < sizeof start || read(0, start) != sizeof start) return scan;
  auto header = WalHeader::parse(start);
  bool gap = !header;
  if (header) {
    scan.beginning = WalScan::Beginning::sound;
  } else {
    header = header_by_frames(read);
    if (!header && only_zeros(read, size)) return scan;
    scan.beginning = WalScan::Beginning::damaged;
    if (!header) return scan;
  }
  scan.header = *header;

  FrameWalk walk{read, scan.header, size};
  while (walk.next()) {
    if (!walk.is_sound()) {
      gap = true;
    } else if (gap) {
      ++scan.beyond.frames;
      if (beyond) beyond(walk.page());
      if (!walk.is_commit()) continue;
      ++scan.beyond.commits;
      scan.beyond.last_commit = walk.number();
    } else {
      scan.sound = walk.number();
      if (!walk.is_commit()) continue;
      ++scan.commits;
      scan.frames = walk.number();
    }
  }
  return scan;
}

}  // namespace holdfast::sqlite
