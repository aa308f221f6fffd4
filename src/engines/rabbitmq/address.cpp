#include "engines/rabbitmq/address.hpp"

#include <boost/url.hpp>

#include <charconv>
#include <fstream>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::rabbitmq {

namespace {

constexpr std::string_view usage = "write amqp://USER@HOST/VHOST or amqps://USER@HOST/VHOST";
constexpr std::string_view allowed =
    "password_file, tls_ca, tls_name, tls_cert, tls_key, heartbeat, queues, delivery_limit, spool";

int number(std::string_view name, std::string_view text, int least, int most) {
  int value = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw ConfigError{fmt::format("{} in the address of the broker is not a number from {} to {}",
                                  name, least, most)};
  return value;
}

std::string read_password(const std::string& path) {
  std::ifstream file{path};
  std::string password;
  if (!std::getline(file, password))
    throw ConfigError{
        fmt::format("cannot read the password for the broker from the file {}", path)};
  return password;
}

bool is_quorum(std::string_view text) {
  if (text == "quorum") return true;
  if (text == "classic") return false;
  throw ConfigError{fmt::format(
      "queues in the address of the broker are '{}'; quorum and classic are allowed", text)};
}

void set(Address& address, const std::string& name, const std::string& value) {
  if (name == "password_file") {
    address.password = read_password(value);
  } else if (name == "tls_ca") {
    address.tls_ca = value;
  } else if (name == "tls_name") {
    address.tls_name = value;
  } else if (name == "tls_cert") {
    address.tls_cert = value;
  } else if (name == "tls_key") {
    address.tls_key = value;
  } else if (name == "heartbeat") {
    address.heartbeat = std::chrono::seconds{number(name, value, 2, 3'600)};
  } else if (name == "queues") {
    address.quorum = is_quorum(value);
  } else if (name == "delivery_limit") {
    address.delivery_limit = number(name, value, 1, 1'000'000);
  } else if (name == "spool") {
    address.spool = value;
  } else {
    throw ConfigError{fmt::format(
        "unknown parameter '{}' in the address of the broker; allowed: {}", name, allowed)};
  }
}

void check(const Address& address) {
  if (address.host.empty())
    throw ConfigError{fmt::format("the address of the broker names no host; {}", usage)};
  if (address.tls_cert.empty() != address.tls_key.empty())
    throw ConfigError{"tls_cert and tls_key in the address of the broker go together"};
  bool about_tls =
      !address.tls_ca.empty() || !address.tls_name.empty() || !address.tls_cert.empty();
  if (about_tls && !address.tls)
    throw ConfigError{"the address of the broker has parameters of TLS; write amqps://"};
}

}  // namespace

Address Address::parse(std::string_view text) {
  auto parsed = boost::urls::parse_uri({text.data(), text.size()});
  if (parsed.has_error() || !parsed->has_authority())
    throw ConfigError{fmt::format(
        "the address of the broker is not a URL (it is not shown here because there may be a "
        "password in it, where '/', '?', '#' and '@' must be written as %2F, %3F, %23 and %40); {}",
        usage)};
  const auto& url = *parsed;
  Address address;
  address.tls = text.starts_with("amqps:");
  address.host = url.host_address();
  address.port = address.tls ? 5671 : 5672;
  if (url.has_port()) address.port = number("the port", std::string{url.port()}, 1, 65'535);
  if (url.has_userinfo()) {
    address.user = url.user();
    address.password = url.password();
  }
  // `/` is the name of the virtual host that every server has, and is what no path stands for.
  if (auto path = url.path(); path.size() > 1) address.vhost = path.substr(1);
  // A question mark with nothing after it is one without a name.
  for (auto parameter : url.params())
    if (!parameter.key.empty()) set(address, parameter.key, parameter.value);
  check(address);
  return address;
}

std::string Address::name() const {
  auto text = fmt::format("{}://{}:{}", tls ? "amqps" : "amqp",
                          host.find(':') == host.npos ? host : fmt::format("[{}]", host), port);
  return vhost == "/" ? text : fmt::format("{}/{}", text, vhost);
}

}  // namespace holdfast::rabbitmq
