#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// 128 bits: 48 bits of milliseconds since 1970, then randomness. Ids made later sort later, and
/// two processes never make the same one. The text form is a ULID: 26 characters of Crockford's
/// base 32, safe in file names and URLs.
///
/// `Tag` keeps ids of different things apart: a `TaskId` is not a `WorkerId`.
template <class Tag>
struct Id {
  std::array<std::uint8_t, 16> bytes{};

  /// A new id. Within one process every id is greater than the one before.
  static Id make();

  /// Reads the 26-character text form (either case); nothing if it is not one.
  static std::optional<Id> parse(std::string_view text);

  std::string text() const;
  bool is_nil() const { return bytes == std::array<std::uint8_t, 16>{}; }

  auto operator<=>(const Id&) const = default;
};

using TaskId = Id<struct TaskTag>;
using WorkerId = Id<struct WorkerTag>;
using ReportId = Id<struct ReportTag>;

extern template struct Id<TaskTag>;
extern template struct Id<WorkerTag>;
extern template struct Id<ReportTag>;

/// The number of a claim. It strictly grows with every change of owner, and every write of a
/// worker names it, so the store can refuse a worker that lost its claim.
struct Token {
  std::int64_t value = 0;
  auto operator<=>(const Token&) const = default;
};

}  // namespace holdfast

template <class Tag>
struct std::hash<holdfast::Id<Tag>> {
  std::size_t operator()(const holdfast::Id<Tag>& id) const noexcept {
    std::size_t mixed = 0;  // the tail is random: it is a hash already
    for (std::size_t i = 8; i < 16; ++i) mixed = mixed << 8 | id.bytes[i];
    return mixed;
  }
};
