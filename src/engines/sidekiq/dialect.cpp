#include "engines/sidekiq/dialect.hpp"

#include <array>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>

namespace holdfast::sidekiq {

namespace {

constexpr std::string_view scheme = "sidekiq+";

constexpr std::array dialects{
    Dialect{"sidekiq_async_http", "sidekiq:async_http", "Sidekiq::AsyncHttp::RequestWorker",
            "Sidekiq::AsyncHttp::CallbackWorker", "Sidekiq::AsyncHttp",
            "async_http_pool:payloads:", false},
    Dialect{"patient_http", "sidekiq:patient_http", "PatientHttp::Sidekiq::RequestWorker",
            "PatientHttp::Sidekiq::CallbackWorker", "PatientHttp", "patient_http:payloads:", true}};

/// Takes the parameter `dialect` out of an address, which the rest does not know.
std::string_view take_dialect(std::string& text) {
  constexpr std::string_view name = "dialect=";
  auto question = text.find('?');
  if (question == std::string::npos) return dialects[0].name;
  auto at = text.find(name, question);
  if (at == std::string::npos || (text[at - 1] != '?' && text[at - 1] != '&'))
    return dialects[0].name;
  auto end = std::min(text.find('&', at), text.size());
  auto value = text.substr(at + name.size(), end - at - name.size());
  text.erase(at, std::min(end + 1, text.size()) - at);
  while (text.ends_with('?') || text.ends_with('&')) text.pop_back();
  return dialect_named(value).name;
}

}  // namespace

const Dialect& dialect_named(std::string_view name) {
  for (const auto& one : dialects)
    if (one.name == name) return one;
  throw ConfigError{
      fmt::format("the dialect '{}' is not known; sidekiq_async_http and patient_http are", name)};
}

Address parse_address(std::string_view text) {
  if (!http::is_sidekiq_address(text))
    throw ConfigError{"the address of Sidekiq's Redis begins with sidekiq+redis://"};
  std::string rest{text.substr(scheme.size())};
  Address address;
  address.dialect = &dialect_named(take_dialect(rest));
  if (!redis::Address::is_one(rest))
    throw ConfigError{"after sidekiq+ comes the address of a Redis server: sidekiq+redis://HOST"};
  address.redis = redis::Address::parse(rest);
  if (address.redis.prefix != redis::Address{}.prefix)
    throw ConfigError{"the keys in Sidekiq's Redis are the gem's, and have no other prefix"};
  return address;
}

}  // namespace holdfast::sidekiq

namespace holdfast::http {

bool is_sidekiq_address(std::string_view address) { return address.starts_with(sidekiq::scheme); }

}  // namespace holdfast::http
