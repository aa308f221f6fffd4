#include "blobs/servers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "engines/azure/target.hpp"
#include "engines/objects/exchange.hpp"
#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

constexpr std::chrono::minutes patience{1};

std::vector<std::string> ends_with_us(std::vector<std::string> command) {
  command.insert(command.begin(), {"/usr/bin/setpriv", "--pdeathsig", "KILL"});
  return command;
}

struct Unsigned final : objects::Signer {
  void sign(objects::Request&) const override {}
};

}  // namespace

const std::string& blob_packages() {
  static const std::string folder = [] {
    Process install{{BLOB_SOURCES "/install", BLOB_PACKAGES}};
    auto ending = install.wait(std::chrono::minutes{9});
    if (!ending || !ending->ok()) throw std::runtime_error{"npm: " + install.out() + install.err()};
    return std::string{BLOB_PACKAGES};
  }();
  return folder;
}

Azurite::Azurite() {
  ::setenv("AZURE_STORAGE_KEY", key, 1);
  start();
  create_container();
}

Azurite::~Azurite() { process_->kill(); }

void Azurite::start() {
  auto script = blob_packages() + "/node_modules/azurite/dist/src/blob/main.js";
  for (int tries = 0; tries < 5; ++tries) {
    bool first = port_ == 0;
    if (first) port_ = free_port();
    process_ = std::make_unique<Process>(
        ends_with_us({"/usr/bin/env", "node", script, "--blobHost", "127.0.0.1", "--blobPort",
                      std::to_string(port_), "--location", folder_.folder(),
                      "--skipApiVersionCheck", "--disableTelemetry"}),
        Environment{{"AZURITE_ACCOUNTS", fmt::format("{}:{}", account, key)}});
    eventually(
        [&] {
          return !process_->running() ||
                 process_->out().find("successfully listens") != std::string::npos;
        },
        patience);
    if (process_->running()) return;
    // Somebody else may have taken a port that was free; one that was ours before is ours.
    if (first) port_ = 0;
  }
  throw std::runtime_error{"Azurite does not start: " + process_->out() + process_->err()};
}

void Azurite::stop() {
  process_->signal(SIGTERM);
  if (!process_->wait(patience)) throw std::runtime_error{"Azurite does not end"};
}

std::string Azurite::address(const std::string& folder) const {
  return fmt::format("azure+http://{}@127.0.0.1:{}/{}{}{}", account, port_, container,
                     folder.empty() ? "" : "/", folder);
}

std::string Azurite::endpoint() const {
  return fmt::format("http://127.0.0.1:{}/{}", port_, account);
}

int Azurite::requests_with(const std::string& text) const {
  int count = 0;
  auto log = process_->out();
  for (auto at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++count;
  return count;
}

void Azurite::create_container() const {
  auto target = azure::parse(address());
  auto service = std::make_shared<azure::BlobService>(target.account, target.place.root);
  objects::Exchange exchange{target.server, service};
  auto reply =
      exchange
          .send({.method = "PUT", .path = target.place.root, .query = {{"restype", "container"}}})
          .reply;
  if (reply.status != 201) throw std::runtime_error{"no container: " + reply.body};
}

S3Front::S3Front()
    : process_{ends_with_us({"/usr/bin/python3", BLOB_SOURCES "/s3_front.py", "AKIDTEST",
                             "s3cr/et+", "eu-test-1", "bucket"})} {
  ::setenv("AWS_ACCESS_KEY_ID", "AKIDTEST", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "s3cr/et+", 1);
  ::setenv("AWS_REGION", "eu-test-1", 1);
  eventually([&] { return !process_.running() || process_.out().ends_with('\n'); }, patience);
  port_ = std::atoi(process_.out().c_str());
  if (port_ == 0) throw std::runtime_error{"the front of S3 does not start: " + process_.err()};
}

std::string S3Front::address(const std::string& folder) const {
  return fmt::format("s3+http://bucket@127.0.0.1:{}{}{}", port_, folder.empty() ? "" : "/", folder);
}

std::string S3Front::origin() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::string S3Front::trouble(const std::string& json) const {
  objects::Exchange exchange{{.origin = origin()}, std::make_shared<Unsigned>()};
  return exchange.send({.method = "POST", .path = "/_trouble", .body = json}).reply.body;
}

int S3Front::requests(const std::string& kind) const {
  auto counts = boost::json::parse(trouble("{}")).as_object();
  return counts.contains(kind) ? static_cast<int>(counts[kind].as_int64()) : 0;
}

S3Rver::S3Rver()
    : process_{ends_with_us({"/usr/bin/env", "node", blob_packages() + "/node_modules/.bin/s3rver",
                             "-d", folder_.folder() / "data", "-a", "127.0.0.1", "-p", "0",
                             "--configure-bucket", "bucket"})} {
  constexpr std::string_view before_port = "127.0.0.1:";
  std::ofstream{folder_.folder() / "keys"} << "S3RVER\nS3RVER\n";
  eventually(
      [&] { return !process_.running() || process_.out().find(before_port) != std::string::npos; },
      patience);
  auto at = process_.out().find(before_port);
  if (at == std::string::npos) throw std::runtime_error{"s3rver does not start: " + process_.err()};
  port_ = std::atoi(process_.out().c_str() + at + before_port.size());
}

std::string S3Rver::address(const std::string& folder) const {
  return fmt::format("s3+http://bucket@127.0.0.1:{}/{}?region=us-east-1&key_file={}", port_, folder,
                     (folder_.folder() / "keys").string());
}

Azurite& shared_azurite() {
  static Azurite server;
  return server;
}

S3Front& shared_s3_front() {
  static S3Front front;
  return front;
}

}  // namespace holdfast::test
