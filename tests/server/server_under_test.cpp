#include "server/server_under_test.hpp"

#include <fmt/format.h>

#include "recovery/clock.hpp"
#include "server/secrets.hpp"

namespace holdfast::test {

namespace {

server::GateOptions gate_options(const ServerUnderTest::Options& options, const TempStore& store,
                                 const std::string& token, int port) {
  server::GateOptions gate{.no_auth = options.no_auth,
                           .read_only = options.read_only,
                           .behind_proxy = !options.proxies.empty(),
                           .port = port,
                           .hosts = {"127.0.0.1", "localhost"},
                           .token = token};
  for (const auto& proxy : options.proxies)
    gate.proxies.push_back(http::Network::parse(proxy).value());
  if (!options.users.empty()) {
    const auto path = (store.folder() / "users").string();
    write_private_file(path, options.users);
    gate.users = std::make_shared<server::Users>(path);
  }
  return gate;
}

}  // namespace

ServerUnderTest::ServerUnderTest() : ServerUnderTest{Options{}} {}

ServerUnderTest::ServerUnderTest(const Options& options)
    : folder_{store_.folder() / "server"},
      engine_{open(store_.address(), options.settings)},
      token_{server::random_secret()},
      tokens_{std::make_shared<server::Tokens>(folder_ + "/tokens")} {
  make_private_folder(folder_);
  listener_ = std::make_unique<server::Listener>(
      server::ListenOptions{.threads = options.threads, .connections = options.connections});
  port_ = listener_->port();
  auto gate = gate_options(options, store_, token_, port_);
  const auto log = [this](std::string_view event, const std::string& text) {
    std::lock_guard lock{log_mutex_};
    log_ += fmt::format("{} {}\n", event, text);
  };
  gate.trouble = [log](const std::string& text) { log("users_unreadable", text); };
  gate.tokens = tokens_;
  service_ = std::make_unique<server::Service>(
      server::ServiceOptions{
          .folder = folder_, .gate = gate, .payloads = options.payloads, .warn = log},
      std::vector<server::StoreToServe>{server::at_hand(engine_, output())});
  thread_ = std::thread{[this] { listener_->run(*service_); }};
}

ServerUnderTest::~ServerUnderTest() {
  listener_->stop();
  thread_.join();
}

std::shared_ptr<BlobStore> ServerUnderTest::output() const {
  return open_blobs("dir:" + output_folder());
}

std::string ServerUnderTest::log() const {
  std::lock_guard lock{log_mutex_};
  return log_;
}

Headers ServerUnderTest::bearer() const { return {{"Authorization", "Bearer " + token_}}; }
std::string ServerUnderTest::new_token(server::ProgramToken token) {
  if (token.name.empty()) token.name = fmt::format("program-{}", ++made_tokens_);
  if (token.created == WallTime{}) token.created = system_clock().wall();
  return tokens_->add(std::move(token)).secret;
}

std::string ServerUnderTest::host() const { return fmt::format("127.0.0.1:{}", port_); }

Answer ServerUnderTest::get(const std::string& target) {
  return call(port_, "GET", target, {}, bearer());
}

Answer ServerUnderTest::post(const std::string& target, const std::string& body, Headers more) {
  more.merge(bearer());
  return call(port_, "POST", target, body, more);
}

Answer ServerUnderTest::bare(const std::string& method, const std::string& target,
                             const std::string& body, const Headers& headers) {
  return call(port_, method, target, body, headers);
}

TaskId ServerUnderTest::enqueue(const std::string& kind, const std::string& payload,
                                TaskOptions options) {
  return Tasks{engine_}.enqueue(NewTask{kind, payload, std::move(options)});
}

}  // namespace holdfast::test
