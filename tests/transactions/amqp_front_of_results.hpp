#pragma once

#include "support/amqp_front.hpp"

namespace holdfast::test {

/// Between the results of this test program and their server.
AmqpFront& front_of_results();

}  // namespace holdfast::test
