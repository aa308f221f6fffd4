#pragma once

#include <stdexcept>
#include <string>

namespace holdfast {

/// Everything Holdfast throws. `what()` says what is wrong, where, and what to do about it.
/// What a caller is expected to react to in the normal course of work is a value instead
/// (`Outcome`, `std::optional`, a list of refused writes).
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The settings, the command line or a store address do not make sense.
class ConfigError : public Error {
  using Error::Error;
};

/// The caller asked for something that cannot be: a payload that is too large or is not JSON,
/// a priority of 9, a dependency on a task that does not exist.
class InvalidRequest : public Error {
  using Error::Error;
};

/// A payload does not have the shape that its handler expects, and will not have it next time. A
/// handler that lets it pass gets its task held, with this as the cause: a later version of the
/// program may read it, and an operator releases it then.
class UnfitPayload : public InvalidRequest {
  using InvalidRequest::InvalidRequest;
};

/// The same of what a transaction was started with, keeps or recorded: the transaction is held.
class UnfitTransaction : public UnfitPayload {
  using UnfitPayload::UnfitPayload;
};

/// The store could not be reached or would not do it. The work is not lost: nothing was
/// acknowledged. Workers retry by themselves.
class StoreError : public Error {
  using Error::Error;
};

/// No room for new work (disk full, or the reserve for finishing running work is reached).
/// Running work can still settle.
class StoreFull : public StoreError {
 public:
  explicit StoreFull(const std::string& what, bool history_is_in_the_way = true)
      : StoreError{what}, history_is_in_the_way_{history_is_in_the_way} {}
  /// Whether there might be room if finished tasks were removed.
  bool history_is_in_the_way() const { return history_is_in_the_way_; }

 private:
  bool history_is_in_the_way_;
};

/// The store can be looked at but not changed: its file, its folder or its file system is read-only
/// for us.
class StoreReadOnly : public StoreError {
  using StoreError::StoreError;
};

/// The file is not one of ours, is from a newer version, or is damaged: a person must decide.
class StoreUnusable : public StoreError {
  using StoreError::StoreError;
};

/// The storage failed under us (an I/O error on write or sync). What was acknowledged is on disk,
/// but this process must not go on: end it, and the next start recovers.
class StorageFailed : public StoreError {
  using StoreError::StoreError;
};

/// The store turned out to be damaged while it was used. This process writes no more: the next one
/// to start looks at all of it and repairs what can be repaired.
class StoreDamaged : public StorageFailed {
  using StorageFailed::StorageFailed;
};

/// The store was moved to another address, or is just being moved there: `what()` names it.
class StoreMoved : public StoreError {
  using StoreError::StoreError;
};

/// A write named a claim that this worker no longer holds: its lease ended and another owner, an
/// operator or recovery has the task now. Drop the work; nothing was written.
class LeaseLost : public Error {
  using Error::Error;
};

/// A handler cannot begin on this machine: its program is missing, there are no descriptors, the
/// disk is full. A handler throws it before it has done anything. The task is given back without a
/// charge, for another worker; this one claims no more tasks of the kind, says so, and tries a
/// single one after a pause.
class CannotBegin : public Error {
  using Error::Error;
};

/// A process of an earlier attempt at the task is still running, so this one must not begin. A
/// handler lets it pass: its task comes back a little later, and no attempt is charged.
class EarlierAttemptRuns : public Error {
  using Error::Error;
};

}  // namespace holdfast
