#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/results.hpp>

namespace holdfast::results {

/// What is wrong with a message, for the reason of a dead letter.
class Malformed : public Error {
  using Error::Error;
};

struct AnnouncedSeries {
  std::string name;
  std::int64_t count = 0;
  bool operator==(const AnnouncedSeries&) const = default;
};
/// The manifest of a result.
struct HeaderMessage {
  std::vector<AnnouncedSeries> series{};  ///< in order of their names
};

/// One part; its bytes begin at `body_at` of the message.
struct PartMessage {
  std::string series;
  std::int64_t ordinal = 0;
  std::optional<std::int64_t> total{};  ///< of its series, if the producer says so
  std::string sha256{};                 ///< of its bytes, if the producer says so; lower case
  std::uint64_t body_at = 0;
};

/// Reads the envelope of a message for transaction `id`: a JSON object, and after a newline the
/// bytes of a part. Throws `Malformed`.
std::variant<HeaderMessage, PartMessage> read_message(Delivery& delivery, const std::string& id,
                                                      const Options& limits);

}  // namespace holdfast::results
