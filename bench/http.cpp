// Requests against nginx on this machine: a bare loop of libcurl and clients of other languages,
// none of which keeps anything, beside a processor with durable requests and callbacks. Needs
// nginx, which it starts on loopback; script/bench --http installs what it compares with.
//
//     holdfast_http_bench [REQUESTS] [AT ONCE] [WORD]
//
// By default as many at once as a processor performs by default. With a word, only what begins with
// it is measured beside the bare loop. Two ratios are told: to a bare loop that sends nothing but
// what libcurl sends by itself, and to one that sends the headers that a processor sends.

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>

#include "bare_loop.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/temp_store.hpp"

namespace {

using Clock = std::chrono::steady_clock;
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

/// What the bare loops reach in a second.
struct Bare {
  double plain;
  double same_headers;
};

void report(const std::string& what, int count, Seconds took, const Bare& bare) {
  auto rate = count / took.count();
  fmt::print("{:<44} {:>8.0f}/s {:>6.2f} of the bare loop, {:.2f} with the same headers\n", what,
             rate, rate / bare.plain, rate / bare.same_headers);
}

Bare measure_bare_loops(int count, int at_once) {
  const std::string id = holdfast::TaskId::make().text();
  auto rate = [&](const std::vector<std::string>& headers) {
    return count / run_bare_loop(url, headers, count, at_once).count();
  };
  Bare bare{.plain = rate({}),
            .same_headers = rate({"accept-encoding: gzip, br, deflate", "idempotency-key: " + id,
                                  "user-agent: " + holdfast::http::ProcessorOptions{}.user_agent,
                                  "x-request-id: " + id})};
  report("bare libcurl", count, Seconds{count / bare.plain}, bare);
  report("bare libcurl, the same headers", count, Seconds{count / bare.same_headers}, bare);
  return bare;
}

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

void measure(const std::string& what, const std::string& address, int count, int at_once,
             const Bare& bare) {
  auto engine = holdfast::open(address);
  holdfast::http::Client client{engine};
  std::vector<holdfast::http::Request> requests(
      1'000,
      client.build(holdfast::http::Method::get, url, holdfast::http::callback("answered", 1)));
  auto began = Clock::now();
  for (int done = 0; done < count; done += 1'000) client.enqueue_all(requests);
  report(what + ", handed over", count, Clock::now() - began, bare);
  holdfast::http::ProcessorOptions options;
  options.capacity = at_once;
  options.egress.allow_private = true;
  options.until_empty = true;
  auto used = own_cpu(), used_by_server = server_cpu();
  began = Clock::now();
  auto summary = holdfast::http::Processor{engine, options}.run();
  report(what + ", performed", static_cast<int>(summary.answered), Clock::now() - began, bare);
  fmt::print("{:<44} {:>8.1f} us for each, {:.1f} us of Redis\n", "  processor time",
             1e6 * (own_cpu() - used).count() / count,
             1e6 * (server_cpu() - used_by_server).count() / count);
}

/// Requests that a Ruby application has enqueued, up to the callbacks that Sidekiq would run.
void measure_sidekiq(int count, int at_once, const Bare& bare) {
  auto& redis = holdfast::test::shared_lasting_redis();
  for (int done = 0; done < count; done += 1'000) {
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
  options.processor.capacity = at_once;
  options.processor.egress.allow_private = true;
  options.processor.until_empty = true;
  options.callback_queue = "callbacks";
  auto began = Clock::now();
  auto summary = holdfast::http::SidekiqProcessor{"sidekiq+" + redis.address(), options}.run();
  report("Sidekiq's Redis, performed", static_cast<int>(summary.callbacks), Clock::now() - began,
         bare);
}

/// A client that prints how many seconds it took.
void measure_peer(const std::string& what, std::vector<std::string> command, int count, int at_once,
                  const Bare& bare) {
  command.insert(command.end(), {url, std::to_string(count), std::to_string(at_once)});
  auto done = holdfast::test::run(command);
  if (done.ending.ok())
    report(what, count, Seconds{std::atof(done.out.c_str())}, bare);
  else
    fmt::print("{:<44} not there: script/bench --http installs it\n", what);
}

}  // namespace

int main(int argc, char** argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 50'000;
  int at_once = argc > 2 ? std::atoi(argv[2]) : holdfast::http::ProcessorOptions{}.capacity;
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
  fmt::print("{} requests, {} at once\n", count, at_once);
  auto bare = measure_bare_loops(count, at_once);
  const std::string only = argc > 3 ? argv[3] : "";
  auto wanted = [&](std::string_view what) { return what.starts_with(only); };
  auto peer = [&](const std::string& what, const std::vector<std::string>& command) {
    if (wanted(what)) measure_peer(what, command, count, at_once, bare);
  };
  auto engine = [&](const std::string& what, const std::string& address) {
    if (wanted(what)) measure(what, address, count, at_once, bare);
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
  if (wanted("Sidekiq's Redis")) measure_sidekiq(count, at_once, bare);
}
