#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace holdfast::sqlite {

/// Reads bytes of a file from `offset`; returns how many there were.
using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<std::uint8_t> into)>;

/// The number in the next four bytes, as SQLite stores it.
inline std::uint32_t big32(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
         std::uint32_t{at[3]};
}

/// The checksum of a write-ahead log: it runs from frame to frame, so each depends on all before.
struct WalSum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const WalSum&) const = default;
};
/// `bytes` is a multiple of 8 long; its words are read in the byte order that the log names.
WalSum add_to_sum(WalSum sum, std::span<const std::uint8_t> bytes, bool big_endian);

/// What the frames of one generation of the log have in common. Starting the log anew changes it.
struct WalSalt {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const WalSalt&) const = default;
};

struct WalHeader {
  static constexpr std::size_t bytes = 32;
  bool big_endian = false;
  std::uint32_t page_size = 0;
  WalSalt salt{};
  WalSum sum{};
  /// Nothing if the bytes do not have the checksum that they name, or make no sense.
  static std::optional<WalHeader> parse(std::span<const std::uint8_t> from);
};

struct FrameHeader {
  static constexpr std::size_t bytes = 24;
  static constexpr std::size_t summed = 8;  ///< the beginning that the checksum covers
  std::uint32_t page = 0;
  std::uint32_t pages_after_commit = 0;  ///< 0: no commit
  WalSalt salt{};
  WalSum sum{};
  static FrameHeader parse(std::span<const std::uint8_t> from);
};

/// What is in a write-ahead log. Frames are numbered from 1.
struct WalScan {
  enum class Beginning {
    empty,  ///< no header: nothing was ever written, or everything is in the database
    sound,
    /// Bytes that are no header; SQLite would take the log for empty. All its frames lie behind a
    /// gap, and `header` is what they tell of it.
    damaged,
  };
  Beginning beginning = Beginning::empty;
  WalHeader header{};
  std::uint64_t bytes = 0;

  int sound = 0;    ///< frames that are readable from the beginning without a gap
  int frames = 0;   ///< those up to the last commit among them: what SQLite would use
  int commits = 0;  ///< in them

  /// Frames behind the gap that belong to this generation and are whole in themselves. Their
  /// checksum is followed from the one that is stored in the frame before, so that frames behind a
  /// bad one can be judged. SQLite would not look at them.
  struct Beyond {
    int frames = 0;
    int commits = 0;
    int last_commit = 0;  ///< its frame
  };
  Beyond beyond{};

  std::uint64_t offset_of(int frame) const;
};

/// Gets the page of each whole frame behind the gap.
using BeyondVisitor = std::function<void(std::span<const std::uint8_t> page)>;

/// Reads a log of `size` bytes from its beginning to its end, one frame at a time.
WalScan scan_wal(const ReadAt& read, std::uint64_t size, const BeyondVisitor& beyond = {});

}  // namespace holdfast::sqlite
