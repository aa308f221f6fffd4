#pragma once

#include <string>
#include <string_view>

#include <holdfast/events.hpp>

namespace holdfast {

/// What happens to transactions beside their moves, each with a name that logs and metrics keep.
/// The event is a `TransactionNoted` whose sentence begins as the name says.
enum class TransactionNote {
  checking,          ///< a runner looks for what others left
  found,             ///< how many it took back; also none
  recovering,        ///< one of them begins here
  recovered,         ///< and goes on in its state: once for each time that it was taken back
  ordinal_stored,    ///< a part is a blob and in the ledger
  ordinal_repeated,  ///< it was there already
  completed,
  abandoned,   ///< its producer was silent for too long
  cancelled,   ///< an operator wanted that; told by who ends it
  queue_kept,  ///< it has ended, and a queue of it that cannot be read stays on the broker
  other,
};

/// `detail` follows the words of the note: `recovered in state` and `awaiting_results`. Runners
/// speak of all their transactions with an empty id.
Event transaction_note(std::string id, std::string machine, TransactionNote note,
                       std::string_view detail = {});
TransactionNote note_of(const TransactionNoted& event);
/// The name of the event in logs, such as `ordinal_stored`.
std::string_view name_of(TransactionNote note);

}  // namespace holdfast
