#include "http/resolver.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <future>

namespace holdfast::test {

namespace {

std::promise<void>& told_to_end() {
  static std::promise<void> promise;
  return promise;
}

std::shared_future<void>& end_of_lookups() {
  static std::shared_future<void> future = told_to_end().get_future();
  return future;
}

}  // namespace

Resolver& Resolver::instance() {
  static Resolver resolver;
  return resolver;
}

void Resolver::say(const std::string& name, std::vector<std::string> addresses) {
  std::lock_guard lock{mutex_};
  addresses_[name] = std::move(addresses);
}

void Resolver::forget() {
  std::lock_guard lock{mutex_};
  addresses_.clear();
  lookups_ = 0;
}

int Resolver::lookups() const {
  std::lock_guard lock{mutex_};
  return lookups_;
}

std::string Resolver::look_up(std::string_view name) {
  std::lock_guard lock{mutex_};
  auto at = addresses_.find(name);
  if (at == addresses_.end()) return {};
  ++lookups_;
  auto found = at->second.front();
  if (at->second.size() > 1) at->second.erase(at->second.begin());
  return found;
}

void end_lookups() { told_to_end().set_value(); }

}  // namespace holdfast::test

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  using namespace holdfast::test;
  if (name && name == slow_name) {
    end_of_lookups().wait_for(std::chrono::seconds{60});
    return EAI_AGAIN;
  }
  static const auto real =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const auto address = name ? Resolver::instance().look_up(name) : std::string{};
  return real(address.empty() ? name : address.c_str(), service, hints, found);
}
