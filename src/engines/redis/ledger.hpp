#pragma once

#include <mutex>

#include "engines/redis/keys.hpp"
#include "engines/redis/server.hpp"
#include "transactions/ledger.hpp"

namespace holdfast::redis {

/// Ledgers for transactions whose store is elsewhere.
///
///     {p}:ledger:<task>-<beginning>    hash: lines, by ordinal, \x1f and series, and `token`, the
///                                      greatest that was shown; it is there from the beginning, so
///                                      a ledger without lines is not one that was lost
///     {p}:ledgers:<store>              names of a store's ledgers, by the time at which they were
///                                      begun or last looked at                    (sorted set)
class RedisLedger final : public Ledger {
 public:
  /// `store` is what the store with the transactions is called.
  RedisLedger(Address address, std::string store);

  /// Throws `StoreUnusable` for a server that may lose what it acknowledges, unless the address
  /// says how much of that is expected.
  void check_server();

  void begin(const LedgerName& name, Token token) override;
  std::optional<Recorded> record(const LedgerName& name, Token token,
                                 std::span<const LedgerEntry> entries) override;
  std::optional<std::string> recorded(const LedgerName& name, const std::string& series,
                                      std::int64_t ordinal) override;
  std::vector<LedgerEntry> lines(const LedgerName& name) override;
  void remove(const LedgerName& name) override;
  std::vector<LedgerName> to_look_at(int most) override;
  std::string name() const override { return server_.address().name(); }

 private:
  std::string key(const LedgerName& name) const { return keys_.key("ledger:" + name.text()); }
  [[noreturn]] void lost(const LedgerName& name) const;
  std::int64_t now();

  Server server_;
  Keys keys_;
  std::string index_;
  std::once_flag checked_;
};

}  // namespace holdfast::redis
