#include "served_store.hpp"

#include <fmt/format.h>

#include "server/wire_call.hpp"

namespace holdfast::bench {

ServedStore::ServedStore(const Engine& engine, const std::string& folder, std::string token)
    : token_{std::move(token)} {
  server::make_private_folder(folder);
  server::GateOptions gate{.no_auth = token_.empty(),
                           .port = listener_.port(),
                           .hosts = {"127.0.0.1"},
                           .token = token_.empty() ? server::random_secret() : token_};
  service_ =
      std::make_unique<server::Service>(server::ServiceOptions{.folder = folder, .gate = gate},
                                        std::vector<server::StoreToServe>{server::at_hand(engine)});
  thread_ = std::thread{[this] { listener_.run(*service_); }};
}

ServedStore::~ServedStore() {
  listener_.stop();
  thread_.join();
}

std::string ServedStore::url() const { return fmt::format("http://127.0.0.1:{}", port()); }

std::string ServedStore::request(const std::string& method, const std::string& target,
                                 const std::string& body) const {
  return test::request_text(method, target, body,
                            {{"Host", fmt::format("127.0.0.1:{}", port())},
                             {"Authorization", "Bearer " + token_},
                             {"Content-Type", "application/json"}});
}

}  // namespace holdfast::bench
