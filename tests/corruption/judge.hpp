#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "corruption/specimen.hpp"

namespace holdfast::test {

/// How a damaged store came out of being opened.
struct Judgement {
  std::vector<std::string> faults{};  ///< what must never be; empty if all is well
  bool halted = false;                ///< refused with the advice to restore a backup
  bool noticed = false;               ///< anything at all was said
  bool seen_late = false;             ///< only the full check saw it, not the start
  std::vector<std::string> repairs{};
  std::string told{};     ///< what was said about losses and repairs
  int held = 0;           ///< tasks that were unfinished and wait for a person now
  int lost = 0;           ///< tasks that are gone, each named
  int old_news = 0;       ///< finished tasks whose payload or result changed: not covered
  int notes_changed = 0;  ///< rows of the user's that changed: they have no checksum
  int notes_lost = 0;
};

/// Opens the store at `path` as a user does and compares it with what it was. A handler never gets
/// what was not enqueued; a task that is not as it was is named by somebody.
Judgement judge(const Specimen& specimen, const std::string& path);

}  // namespace holdfast::test
