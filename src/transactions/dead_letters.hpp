#pragma once

#include <functional>
#include <string>
#include <vector>

#include <holdfast/broker.hpp>

namespace holdfast {

/// The queue of dead letters, for operators.
class DeadLetters {
 public:
  /// A letter in hand; what is not removed stays where it was.
  struct Letter {
    std::string name;  ///< made of what is in it, so that it can be named later
    DeliveryPtr delivery;

    std::string header(const char* which) const;
    std::string reason() const { return header(dead_letter_reason); }
    std::string queue() const { return header(dead_letter_origin); }  ///< where it was before
  };

  explicit DeadLetters(std::shared_ptr<Broker> broker) : broker_{std::move(broker)} {}

  /// Oldest first, as many as fit into memory that is bounded. Others may have some in their hands.
  std::vector<Letter> take(int most);
  /// Into the queue where it was before, as it was. After a crash it may be in both. Throws
  /// `QueueMissing`, and `InvalidRequest` where it is not known.
  void replay(const Letter& letter);
  void discard(const Letter& letter);

 private:
  std::shared_ptr<Broker> broker_;
  std::unique_ptr<Consumer> consumer_{};
};

}  // namespace holdfast
