#pragma once

#include <amqp.h>

#include <string>
#include <vector>

#include <holdfast/broker.hpp>

namespace holdfast::rabbitmq {

/// What goes with a message that is to survive the broker. Points into what it was made of.
class Properties {
 public:
  Properties(const std::string& id, const MessageHeaders& headers);
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;
  amqp_basic_properties_t& get() { return properties_; }

 private:
  std::vector<amqp_table_entry_t> entries_;
  amqp_basic_properties_t properties_{};
};

struct ReceivedProperties {
  std::string id{};
  MessageHeaders headers{};  ///< texts and numbers, without those of the broker (`x-...`)
  int returns = 0;           ///< how often it was delivered and came back, as far as is known
};
ReceivedProperties read_properties(const amqp_basic_properties_t& properties);

}  // namespace holdfast::rabbitmq
