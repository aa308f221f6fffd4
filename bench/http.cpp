// Requests against nginx on this machine: a bare loop of libcurl and clients of other languages,
// none of which keeps anything, beside a processor with durable requests and callbacks. Needs
// nginx, which it starts on loopback; script/bench --http installs what it compares with.
//
//     holdfast_http_bench [REQUESTS] [AT ONCE] [WORD] [ROUNDS]
//
// So many requests in each of three rounds, by default as many at once as a processor performs by
// default. With a word, only what begins with it is measured beside the bare loop. Two ratios are
// told: to a bare loop that sends nothing but what libcurl sends by itself, and to one that sends
// the headers that a processor sends.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>

#include "bare_loop.hpp"
#include "samples.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/temp_store.hpp"

namespace {

using holdfast::bench::median;
using holdfast::bench::seconds;
using Seconds = std::chrono::duration<double>;
constexpr int port = 18'480;
const std::string url = fmt::format("http://127.0.0.1:{}/", port);

/// nginx with a body of 100 bytes.
holdfast::test::Process start_nginx(const std::filesystem::path& folder) {
  auto config = folder / "nginx.conf";
  std::ofstream{config} << fmt::format(
      "daemon off; master_process off; pid {0}/nginx.pid; error_log {0}/error.log;\n"
      "worker_rlimit_nofile 20000; events {{ worker_connections 20000; }}\n"
      "http {{ access_log off; keepalive_requests 1000000;\n"
      "  client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path {0}/c;\n"
      "  uwsgi_temp_path {0}/d; scgi_temp_path {0}/e;\n"
      "  server {{ listen 127.0.0.1:{1} backlog=16384; location / {{ return 200 \"{2}\"; }} }} "
      "}}\n",
      folder.string(), port, std::string(100, 'x'));
  return holdfast::test::Process{
      {"/usr/sbin/nginx", "-c", config.string(), "-e", (folder / "error.log").string()}};
}

/// How many are performed at once, how many in a round, and how many rounds.
struct Course {
  int count;
  int at_once;
  int rounds;
};

/// What the bare loops reach in a second.
struct Bare {
  double plain;
  double same_headers;
};

Bare run_bare_loops(const Course& course) {
  static const std::string id = holdfast::TaskId::make().text();
  auto rate = [&](const std::vector<std::string>& headers) {
    return course.count / run_bare_loop(url, headers, course.count, course.at_once).count();
  };
  return {.plain = rate({}),
          .same_headers = rate({"accept-encoding: gzip, br, deflate", "idempotency-key: " + id,
                                "user-agent: " + holdfast::http::ProcessorOptions{}.user_agent,
                                "x-request-id: " + id})};
}

/// One machine is not as fast from one minute to the next. So each round is compared with bare
/// loops right before it, and of all rounds the median is told, and the range.
class Comparison {
 public:
  Comparison(const Course& course, std::string what) : course_{course}, what_{std::move(what)} {}

  /// `perform` returns how long `course.count` requests took.
  void run(const std::function<Seconds()>& perform) {
    for (int round = 0; round < course_.rounds; ++round) {
      auto bare = run_bare_loops(course_);
      auto rate = course_.count / perform().count();
      rates_.push_back(rate);
      plain_.push_back(rate / bare.plain);
      same_headers_.push_back(rate / bare.same_headers);
    }
    fmt::print("{:<36} {:>8.0f}/s   {} of the bare loop, {} with the same headers\n", what_,
               median(rates_), ratio(plain_), ratio(same_headers_));
  }

 private:
  static std::string ratio(const std::vector<double>& samples) {
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", median(samples), std::ranges::min(samples),
                       std::ranges::max(samples));
  }

  Course course_;
  std::string what_;
  std::vector<double> rates_, plain_, same_headers_;
};

/// What a noisy machine changes little.
Seconds own_cpu() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto in_seconds = [](const timeval& time) {
    return Seconds{static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6};
  };
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

/// Of the Redis server's main thread.
Seconds server_cpu() {
  const auto info = holdfast::test::shared_lasting_redis().call({"INFO", "cpu"}).string();
  auto value = [&](const std::string& name) {
    return std::atof(info.c_str() + info.find(name) + name.size());
  };
  return Seconds{value("used_cpu_user_main_thread:") + value("used_cpu_sys_main_thread:")};
}

void measure(const std::string& what, const std::string& address, const Course& course) {
  auto engine = holdfast::open(address);
  holdfast::http::Client client{engine};
  std::vector<holdfast::http::Request> requests(
      1'000,
      client.build(holdfast::http::Method::get, url, holdfast::http::callback("answered", 1)));
  holdfast::http::ProcessorOptions options;
  options.capacity = course.at_once;
  options.egress.allow_private = true;
  options.until_empty = true;
  std::vector<double> handed_over, own, of_server;
  Comparison{course, what}.run([&] {
    handed_over.push_back(course.count / seconds([&] {
                            for (int done = 0; done < course.count; done += 1'000)
                              client.enqueue_all(requests);
                          }));
    auto used = own_cpu(), used_by_server = server_cpu();
    auto took = seconds([&] { holdfast::http::Processor{engine, options}.run(); });
    own.push_back(1e6 * (own_cpu() - used).count() / course.count);
    of_server.push_back(1e6 * (server_cpu() - used_by_server).count() / course.count);
    return Seconds{took};
  });
  fmt::print("  handed over {:.0f}/s; processor time {:.1f} us for each, and {:.1f} us of Redis\n",
             median(handed_over), median(own), median(of_server));
}

/// Requests that a Ruby application has enqueued, up to the callbacks that Sidekiq would run.
Seconds perform_for_sidekiq(const Course& course) {
  auto& redis = holdfast::test::shared_lasting_redis();
  for (int done = 0; done < course.count; done += 1'000) {
    holdfast::redis::Command push{"LPUSH", "queue:default"};
    for (int i = done; i < done + 1'000; ++i)
      push.push_back(fmt::format(
          R"({{"retry":true,"queue":"default","class":"Sidekiq::AsyncHttp::RequestWorker",)"
          R"("args":[{{"http_method":"get","url":"{}","headers":{{}},"body":null,"timeout":null,)"
          R"("max_redirects":null}},"Keep",null,{{}},"{}"],"jid":"63c1a37615da17b21f943b48",)"
          R"("created_at":1794711059.9,"enqueued_at":1794711059.9}})",
          url, i));
    redis.call(push);
  }
  holdfast::http::SidekiqOptions options;
  options.processor.capacity = course.at_once;
  options.processor.egress.allow_private = true;
  options.processor.until_empty = true;
  options.callback_queue = "callbacks";
  return Seconds{seconds([&] {
    holdfast::http::SidekiqProcessor{"sidekiq+" + redis.sidekiq_address(), options}.run();
  })};
}

/// A client that prints how many seconds it took.
void measure_peer(const std::string& what, std::vector<std::string> command, const Course& course) {
  command.insert(command.end(),
                 {url, std::to_string(course.count), std::to_string(course.at_once)});
  auto run = [&] {
    auto done = holdfast::test::run(command);
    if (!done.ending.ok())
      throw std::runtime_error{what + " is not there: script/bench --http installs it"};
    return Seconds{std::atof(done.out.c_str())};
  };
  Comparison{course, what}.run(run);
}

}  // namespace

int main(int argc, char** argv) {
  const Course course{
      .count = argc > 1 ? std::atoi(argv[1]) : 50'000,
      .at_once = argc > 2 ? std::atoi(argv[2]) : holdfast::http::ProcessorOptions{}.capacity,
      .rounds = argc > 4 ? std::atoi(argv[4]) : 3};
  if (::access("/usr/sbin/nginx", X_OK) != 0) {
    fmt::print(stderr, "nginx is not there; install nginx-light\n");
    return 1;
  }
  holdfast::test::TempStore store;
  auto nginx = start_nginx(store.folder());
  bool up = holdfast::test::eventually([&] {
    return holdfast::test::run(
               {"/bin/bash", "-c", fmt::format("exec 3<>/dev/tcp/127.0.0.1/{}", port)})
        .ending.ok();
  });
  if (!up) {
    fmt::print(stderr, "nginx does not start: {}\n", nginx.err());
    return 1;
  }
  fmt::print("{} rounds of {} requests, {} at once\n", course.rounds, course.count, course.at_once);
  auto bare = run_bare_loops(course);
  fmt::print("bare libcurl {:.0f}/s, with the same headers {:.0f}/s, at first\n", bare.plain,
             bare.same_headers);
  const std::string only = argc > 3 ? argv[3] : "";
  auto wanted = [&](std::string_view what) { return what.starts_with(only); };
  auto peer = [&](const std::string& what, const std::vector<std::string>& command) {
    if (wanted(what)) measure_peer(what, command, course);
  };
  auto engine = [&](const std::string& what, const std::string& address) {
    if (wanted(what)) measure(what, address, course);
  };
  peer("undici (Node)", {"/usr/bin/env", "node", HTTP_PEERS "/undici.cjs"});
  peer("async-http (Ruby)", {"/usr/bin/ruby", HTTP_PEERS "/async_http.rb"});
  engine("SQLite, power-safe", store.address());
  engine("SQLite, crash-safe",
         "sqlite:" + (store.folder() / "b.db").string() + "?durability=crash-safe");
  auto& redis = holdfast::test::shared_lasting_redis();
  engine("Redis", redis.address() + "?prefix=bench");
  // By default the server writes its log anew whenever that has doubled, beginning with 64 MB, and
  // a process that does so takes a part of the machine all the time.
  redis.call({"CONFIG", "SET", "auto-aof-rewrite-min-size", "4gb"});
  engine("Redis, log seldom rewritten", redis.address() + "?prefix=seldom");
  if (wanted("Sidekiq's Redis"))
    Comparison{course, "Sidekiq's Redis"}.run([&] { return perform_for_sidekiq(course); });
}
