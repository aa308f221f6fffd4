#include "engines/redis/address.hpp"

#include <array>
#include <charconv>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holdfast/error.hpp>

namespace holdfast::redis {

namespace {

constexpr std::string_view usage =
    "write redis://host:port, rediss://host:port or redis+unix:///path/to/socket";

std::optional<std::string_view> after(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return {};
  return text.substr(start.size());
}

/// Up to `mark`, which is taken away too; everything if there is none.
std::string_view cut(std::string_view& text, char mark) {
  auto at = text.find(mark);
  auto first = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return first;
}

std::string decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    auto hex = text.substr(i + 1, 2);
    if (text[i] == '%' && hex.size() == 2 &&
        std::from_chars(hex.data(), hex.data() + 2, byte, 16).ptr == hex.data() + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

int number(std::string_view what, std::string_view text, int most) {
  int value = -1;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{} || end != text.data() + text.size() || value < 0 || value > most)
    throw ConfigError{
        fmt::format("the {} in the store address is not a number from 0 to {} (it is not shown "
                    "here because it may be a part of a password: there '/', '?', '#' and '@' must "
                    "be written as %2F, %3F, %23 and %40)",
                    what, most)};
  return value;
}

Endpoint endpoint(std::string_view text) {
  Endpoint one;
  std::string_view port;
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    one.host = cut(text, ']');
    if (text.starts_with(':')) port = text.substr(1);
  } else {
    one.host = cut(text, ':');
    port = text;
  }
  if (one.host.empty()) one.host = "127.0.0.1";
  if (!port.empty()) one.port = number("port", port, 65'535);
  return one;
}

std::string read_password(const std::string& path) {
  std::ifstream file{path};
  std::string password;
  if (!std::getline(file, password))
    throw ConfigError{fmt::format("cannot read a password from the file {}", path)};
  return password;
}

Durability durability(std::string_view text) {
  if (text == "power-safe") return Durability::power_safe;
  if (text == "crash-safe") return Durability::crash_safe;
  throw ConfigError{fmt::format(
      "the durability in the store address is '{}'; power-safe or crash-safe is allowed", text)};
}

void check_prefix(const std::string& prefix) {
  if (prefix.empty() || prefix.size() > 100 || prefix.find_first_of("{} \t\r\n") != prefix.npos)
    throw ConfigError{
        "the prefix in the store address must have 1 to 100 characters without "
        "braces and spaces"};
}

void set(Address& address, std::string_view name, const std::string& value) {
  if (name == "prefix") {
    check_prefix(value);
    address.prefix = value;
  } else if (name == "db") {
    address.database = number("database", value, 1'000'000);
  } else if (name == "user") {
    address.user = value;
  } else if (name == "password_file") {
    address.password = read_password(value);
  } else if (name == "tls_ca") {
    address.tls_ca = value;
  } else if (name == "tls_name") {
    address.tls_name = value;
  } else if (name == "durability") {
    address.expected = durability(value);
  } else {
    throw ConfigError{fmt::format(
        "unknown parameter '{}' in the store address; allowed: prefix, db, user, password_file, "
        "tls_ca, tls_name, durability",
        name)};
  }
}

void read_hosts(Address& address, std::string_view text) {
  auto at = text.rfind('@');
  if (at != std::string_view::npos) {
    auto secret = text.substr(0, at);
    address.user = decode(cut(secret, ':'));
    address.password = decode(secret);
    text.remove_prefix(at + 1);
  }
  do {
    address.endpoints.push_back(endpoint(cut(text, ',')));
  } while (!text.empty());
}

}  // namespace

std::string Endpoint::text() const {
  if (!socket.empty()) return socket;
  bool brackets = host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool Address::is_one(std::string_view text) {
  for (auto scheme : {"redis:", "rediss:", "redis+unix:", "unix:"})
    if (text.starts_with(scheme)) return true;
  return false;
}

Address Address::parse(std::string_view text) {
  Address address;
  auto parameters = text;
  auto place = cut(parameters, '?');
  if (auto path = after(place, "redis+unix://"); path || (path = after(place, "unix://"))) {
    if (path->empty())
      throw ConfigError{fmt::format("the store address names no socket; {}", usage)};
    address.endpoints.push_back({.socket = decode(*path)});
  } else {
    auto rest = after(place, "redis://");
    if (!rest) {
      rest = after(place, "rediss://");
      address.tls = rest.has_value();
    }
    if (!rest) throw ConfigError{fmt::format("the store address is not complete; {}", usage)};
    auto database = *rest;
    read_hosts(address, cut(database, '/'));
    if (!database.empty()) address.database = number("database", database, 1'000'000);
  }
  while (!parameters.empty()) {
    auto value = cut(parameters, '&');
    auto name = cut(value, '=');
    set(address, name, decode(value));
  }
  return address;
}

std::string Address::name() const {
  std::vector<std::string> places;
  for (const auto& one : endpoints) places.push_back(one.text());
  bool unix_socket = !endpoints.front().socket.empty();
  auto text = fmt::format("{}://{}",
                          unix_socket ? "redis+unix"
                          : tls       ? "rediss"
                                      : "redis",
                          fmt::join(places, ","));
  if (database != 0 && !unix_socket) text += fmt::format("/{}", database);
  if (prefix != "holdfast") text += fmt::format("?prefix={}", prefix);
  return text;
}

}  // namespace holdfast::redis
