#include "recovery/transaction_notes.hpp"

#include <array>

#include <fmt/format.h>

namespace holdfast {

namespace {

struct Words {
  std::string_view name;
  std::string_view begin;  ///< none begins with another
};
constexpr std::array words{
    Words{"transactions_checking", "checking for recoverable transactions"},
    Words{"transactions_found", "transactions to recover:"},
    Words{"transaction_recovering", "recovering"},
    Words{"transaction_recovered", "recovered in state"},
    Words{"ordinal_stored", "ordinal stored:"},
    Words{"ordinal_already_processed", "ordinal already processed:"},
    Words{"transaction_complete", "complete"},
    Words{"transaction_abandoned", "abandoned:"},
    Words{"transaction_cancelled", "cancelled"},
    Words{"queue_kept", "queue stays on the broker:"},
    Words{"transaction_noted", ""},
};
static_assert(words.size() == static_cast<std::size_t>(TransactionNote::other) + 1);

const Words& words_of(TransactionNote note) { return words[static_cast<std::size_t>(note)]; }

}  // namespace

Event transaction_note(std::string id, std::string machine, TransactionNote note,
                       std::string_view detail) {
  auto begin = words_of(note).begin;
  auto space = begin.empty() || detail.empty() ? "" : " ";
  return TransactionNoted{
      std::move(id), std::move(machine), fmt::format("{}{}{}", begin, space, detail),
      note == TransactionNote::abandoned || note == TransactionNote::queue_kept};
}

TransactionNote note_of(const TransactionNoted& event) {
  auto note = TransactionNote::checking;
  while (!std::string_view{event.what}.starts_with(words_of(note).begin))
    note = static_cast<TransactionNote>(static_cast<int>(note) + 1);
  return note;
}

std::string_view name_of(TransactionNote note) { return words_of(note).name; }

}  // namespace holdfast
