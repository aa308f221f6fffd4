#pragma once

#include <memory>
#include <string_view>

#include <holdfast/broker.hpp>

namespace holdfast::rabbitmq {

/// Whether it is the address of a RabbitMQ server; see `Address` for what it says.
bool is_address(std::string_view text);
/// Nothing is connected before it is needed.
std::shared_ptr<Broker> open_broker(std::string_view address);

}  // namespace holdfast::rabbitmq
