// Answers nobody before COUNT requests have come, and says how many waited at once; if TELL is
// given, also when that many have come. A program of its own, because a process may not have the
// descriptors for both ends of so many connections.

#include <cstdio>
#include <cstdlib>
#include <future>

#include "support/http_server.hpp"

int main(int argc, char** argv) {
  using namespace holdfast::test;
  int count = argc > 1 ? std::atoi(argv[1]) : 1;
  int tell = argc > 2 ? std::atoi(argv[2]) : 0;
  int asked = 0;
  std::promise<void> all_asked;
  HttpServer server{[&](const ServedRequest&) {
    if (++asked == count) all_asked.set_value();
    if (asked == tell) {
      std::printf("%d came\n", asked);
      std::fflush(stdout);
    }
    auto reply = answer(200, "x");
    reply.waits = true;
    return reply;
  }};
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  all_asked.get_future().wait();
  std::printf("%d at once\n", server.most_at_once());
  std::fflush(stdout);
  server.release();
  std::promise<void>{}.get_future().wait();  // until it is ended
}
