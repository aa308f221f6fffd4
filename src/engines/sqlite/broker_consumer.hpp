#pragma once

#include <map>
#include <mutex>
#include <unordered_map>

#include "engines/sqlite/broker.hpp"
#include "engines/sqlite/broker_messages.hpp"
#include "recovery/file_lock.hpp"

namespace holdfast::sqlite {

inline constexpr Writer::KillPoints message_points{KillPoint::messages_before_commit,
                                                   KillPoint::messages_after_commit};

class SqliteConsumer final : public Consumer {
 public:
  SqliteConsumer(std::shared_ptr<SqliteBroker> broker, const ConsumerOptions& options);
  ~SqliteConsumer() override;

  void listen(const std::string& queue) override;
  void ignore(const std::string& queue) override;
  News receive(Millis timeout) override;
  void interrupt() override { broker_->mail().interrupt(); }
  void acknowledge(std::span<const DeliveryPtr> deliveries) override;
  void reject(const DeliveryPtr& delivery, const std::string& reason) override;
  void give_back(std::span<const DeliveryPtr> deliveries) override;

 private:
  struct Room {
    std::uint64_t bytes = 0;
    int messages = 0;
    bool for_anything = false;  ///< nothing is held: one message may be larger than allowed
  };
  using Queues = std::map<std::int64_t, std::string>;

  News look();
  std::vector<TakenMessage> take();
  void take_from(Connection& db, std::int64_t queue, const std::string& name, Room& room,
                 std::vector<TakenMessage>& into);
  bool anything_waits(const Queues& queues);
  Queues queues() const;
  Room room() const;
  std::vector<std::string> missing_queues();
  DeliveryPtr delivery_of(TakenMessage message);
  void forget(const std::vector<std::int64_t>& numbers);
  void put_back(const std::vector<std::int64_t>& numbers);
  /// What dead or silent consumers had is there for everybody again. Now and then.
  void mind_others();
  bool is_gone(const std::string& consumer) const;
  void renew();

  std::shared_ptr<SqliteBroker> broker_;
  Store& store_;
  ConsumerOptions options_;
  std::string id_;
  FileDescriptor life_;  ///< locked

  mutable std::mutex mutex_;  // guards everything below
  Queues queues_;
  struct Held {
    std::string queue;
    std::uint64_t bytes = 0;
  };
  std::unordered_map<std::int64_t, Held> held_;
  std::uint64_t held_bytes_ = 0;
  std::int64_t removals_seen_ = -1;
  // Of the one who receives.
  Millis minded_at_{0};
  Millis renewed_at_{0};
  std::int64_t last_queue_ = 0;
};

}  // namespace holdfast::sqlite
