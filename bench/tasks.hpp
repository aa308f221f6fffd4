#pragma once

#include <boost/describe.hpp>
#include <string>

#include <holdfast/engine.hpp>
#include <holdfast/tasks.hpp>

#include "scratch.hpp"

namespace holdfast::bench {

/// What the bench and its worker processes agree on.
inline constexpr const char* noop_kind = "noop";
inline constexpr const char* note_kind = "note";    ///< notes its start
inline constexpr const char* block_kind = "block";  ///< notes its start; the first time it stays

/// Where a handler notes its start.
struct Place {
  int slot = 0;
};
BOOST_DESCRIBE_STRUCT(Place, (), (slot))

/// About 100 bytes of JSON, as much as a typical task carries.
inline const std::string usual_payload =
    R"({"to":"ada@example.org","template":"welcome","locale":"en-GB","account":12345})";

Engine open_store(const Scratch& scratch, Durability durability);

/// Enqueues `count` no-op tasks, 1,000 at a time.
void fill(Tasks& tasks, int count);

}  // namespace holdfast::bench
