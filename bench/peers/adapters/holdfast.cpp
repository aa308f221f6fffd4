// Holdfast as one of the peers: talks with the driver like the other adapters (see
// ../conversation.md), and uses nothing but the public API at default settings.

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

namespace holdfast::bench {

namespace {

/// One kind for everything, as with the others: the payload says what to do.
struct Job {
  std::string to{}, text{}, locale{};
  std::int64_t account = 0;
  std::int64_t at = 0;  ///< nanoseconds; not 0: the handler says how long ago that was
  bool sleeper = false;
};
BOOST_DESCRIBE_STRUCT(Job, (), (to, text, locale, account, at, sleeper))

const Job usual{.to = "ada@example.org", .text = "welcome", .locale = "en-GB", .account = 12345};

std::int64_t nanoseconds() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

void say(const std::string& line) { std::cout << line + "\n" << std::flush; }

void enqueue_bulk(Tasks& tasks, int count) {
  constexpr int batch = 1'000;
  auto payload = to_payload(usual);
  for (int left = count; left > 0; left -= batch) {
    auto size = static_cast<std::size_t>(std::min(left, batch));
    tasks.enqueue_all(std::vector<NewTask>(size, NewTask{"job", payload}));
  }
}

int produce(const std::string& address) {
  Tasks tasks{open(address)};
  say(R"({"version": "", "settings": "defaults"})");
  std::string verb;
  while (std::cin >> verb) {
    int count = 0;
    if (verb == "single" || verb == "bulk") std::cin >> count;
    if (verb == "bulk")
      enqueue_bulk(tasks, count);
    else if (verb == "stamped")
      tasks.enqueue("job", Job{.at = nanoseconds()});
    else if (verb == "sleeper")
      tasks.enqueue("job", Job{.sleeper = true});
    for (int i = 0; verb == "single" && i < count; ++i) tasks.enqueue("job", usual);
    say("done");
  }
  return 0;
}

int work(const std::string& address, int wanted) {
  auto engine = open(address);
  engine.events().subscribe([](const Event& event) {
    if (std::holds_alternative<WorkerEnlisted>(event)) say("ready");
  });
  Tasks tasks{engine};
  tasks.on<Job>("job", [](const Job& job, Attempt&) {
    if (job.at) {
      say(fmt::format("picked {}", nanoseconds() - job.at));
    } else if (job.sleeper) {
      say("began");
      std::this_thread::sleep_for(std::chrono::hours{1});
    }
    return done;
  });
  // The driver closes our input when it goes away.
  std::thread{[] {
    while (std::cin.get() != EOF) {
    }
    std::_Exit(0);
  }}.detach();
  auto summary = run(tasks, {.queues = {}, .until_empty = wanted > 0});
  if (summary.completed == wanted) say("done");
  // The driver looks how much memory this took, and then ends it.
  while (true) ::pause();
}

}  // namespace

}  // namespace holdfast::bench

int main(int count, char** words) {
  if (count != 5) {
    fmt::print(stderr, "usage: {} producer|worker ADDRESS VARIANT TASKS\n", words[0]);
    return 2;
  }
  try {
    return std::string{words[1]} == "worker" ? holdfast::bench::work(words[2], std::atoi(words[4]))
                                             : holdfast::bench::produce(words[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
