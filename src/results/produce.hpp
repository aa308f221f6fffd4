#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/envelope.hpp"

namespace holdfast::results {

/// The messages of a producer, as docs/results.md has them.
Message header_message_of(const std::string& id, const std::vector<AnnouncedSeries>& series);
/// With the checksum of its bytes.
Message part_message_of(const std::string& id, const std::string& series, std::int64_t ordinal,
                        std::string_view bytes);

}  // namespace holdfast::results
