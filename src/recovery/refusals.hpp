#pragma once

#include <map>
#include <mutex>

#include "recovery/leases.hpp"

namespace holdfast {

/// Orphans that could not be taken back, from look to look: what stays refused is reported once and
/// not each time that somebody looks. Safe to use from several threads.
class Refusals {
 public:
  /// It was refused again. True: it has been for `patience` and was not reported yet.
  bool is_news(const Lease& lease, Millis patience, Millis now);
  bool was_reported(const Lease& lease) const;

 private:
  struct Refused {
    Millis first{0};
    Millis last{0};
    bool reported = false;
  };
  void forget(Millis now);

  mutable std::mutex mutex_;
  std::map<Lease, Refused> refused_;
};

}  // namespace holdfast
