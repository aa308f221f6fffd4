#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/http/payloads.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/traces.hpp>

#include "server/audit.hpp"
#include "server/enlisters.hpp"
#include "server/gate.hpp"
#include "server/login_audit.hpp"
#include "server/problem.hpp"
#include "server/quotas.hpp"
#include "server/route.hpp"
#include "server/store_place.hpp"

namespace holdfast::server {

struct ServiceOptions {
  std::string folder{};  ///< where tokens and audit log are kept
  GateOptions gate{};
  /// Shown by /v1/settings: how it was started.
  std::vector<std::pair<std::string, std::string>> shown{};
  std::optional<TraceOptions> traces{};
  http::PayloadOptions payloads{};  ///< to read what remote workers get
  /// Gets lines for the log of the server: the name of an event, and a text. From any thread.
  std::function<void(std::string_view, const std::string&)> warn = [](auto, const auto&) {};
};

/// Everything that answers requests, without the network: what comes in is a `Request`, whatever
/// carried it. Safe to use from many threads.
class Service {
 public:
  /// The first of the stores is what requests are about that name none. Throws where one of them
  /// cannot be opened and waiting for it would not help.
  Service(ServiceOptions options, std::vector<StoreToServe> stores);

  /// The first half, done as soon as the head of a request is there: finds the route and decides
  /// whether the caller may use it. Throws `Problem` if not.
  const Route& admit(Request& request, std::string_view raw_path);
  /// The second half. Never throws: what goes wrong is answered.
  Response answer(const Route& route, const Request& request);
  /// The number of the store that may keep the answer waiting; nothing: none.
  std::optional<std::size_t> store_asked(const Route& route, const Request& request) const;
  /// What to tell a caller who has waited so long for the answer, if that is too long.
  std::optional<Problem> overdue(const Route& route, const Request& request, Millis waited) const;

  const Routes& routes() const { return routes_; }
  Gate& gate() { return gate_; }
  Audit& audit() { return audit_; }
  const Audit& audit() const { return audit_; }
  LoginAudit& logins() { return logins_; }
  Enlisters& enlisters() { return enlisters_; }
  Quotas& quotas() { return quotas_; }
  /// Adds to the audit log what other processes did to the tokens of programs.
  void note_tokens();
  const std::vector<std::shared_ptr<StorePlace>>& stores() const { return stores_; }
  const ServiceOptions& options() const { return options_; }

  /// The place of the store that a request is about; throws `Problem` if there is none of that
  /// name.
  StorePlace& place(const Request& request);
  /// The store itself; throws `Problem` where it is not open yet, too.
  WatchedStore& store(const Request& request);
  /// Looks and acts in the name of the caller.
  Inspector inspector(const Request& request);

 private:
  Response audited(const Route& route, const Request& request);
  std::optional<std::size_t> number_of_store(const Request& request) const;

  ServiceOptions options_;
  Gate gate_;
  Audit audit_;
  LoginAudit logins_;
  Enlisters enlisters_;
  Quotas quotas_;
  std::vector<std::shared_ptr<StorePlace>> stores_;
  Routes routes_;
};

/// Who did it, as histories of tasks have it: `operator/NAME`, or `token/NAME` for a program.
std::string actor(const Request& request);

/// The parts of the table.
void add_session_routes(Routes& routes, Service& service);
void add_status_routes(Routes& routes, Service& service);
void add_search_routes(Routes& routes, Service& service);
void add_enqueue_routes(Routes& routes, Service& service);
void add_action_routes(Routes& routes, Service& service);
void add_plan_routes(Routes& routes, Service& service);
void add_http_routes(Routes& routes, Service& service);
void add_batch_routes(Routes& routes, Service& service);
void add_output_routes(Routes& routes, Service& service);
void add_transaction_routes(Routes& routes, Service& service);
void add_message_routes(Routes& routes, Service& service);
void add_remote_routes(Routes& routes, Service& service);
void add_token_routes(Routes& routes, Service& service);
void add_page_routes(Routes& routes);

}  // namespace holdfast::server
