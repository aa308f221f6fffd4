#pragma once

#include <functional>
#include <string>

#include "support/network.hpp"

namespace holdfast::test {

/// A server of some engine that hosts can reach over the network.
struct ReachableServer {
  std::function<std::string(const std::string& host)>
      address;       ///< of its store, by that name of it
  std::string here;  ///< the address for this process
};

/// Two workers, each on a host of its own. One is cut off from the server while it runs a task: it
/// must stop its handler by itself before the other one runs the task, and when it is healed
/// nothing of what it still writes may count, and it goes on with new work. Their wall clocks are
/// two hours apart, one of them an hour before the server's and one after it.
void expect_that_cutting_off_a_worker_does_no_harm(NetworkHost& one, NetworkHost& other,
                                                   const ReachableServer& server);

}  // namespace holdfast::test
