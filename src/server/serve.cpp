#include "server/serve.hpp"

#include <sys/file.h>

#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

#include "http/address.hpp"
#include "server/listener.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

struct Address {
  std::string host;                ///< as it was written, without brackets
  std::vector<std::string> all{};  ///< that it stands for
  int port = 0;
};

Address address_of(const std::string& listen) {
  const auto colon = listen.rfind(':');
  Address address{listen.substr(0, colon)};
  const char* end = listen.data() + listen.size();
  const char* begin = colon == std::string::npos ? end : listen.data() + colon + 1;
  const auto read = std::from_chars(begin, end, address.port);
  if (read.ec != std::errc{} || read.ptr != end || address.port < 0 || address.port > 65'535)
    throw ConfigError{fmt::format(
        "--listen is '{}'; write an address and a port, such as 127.0.0.1:8420 or [::1]:8420",
        listen)};
  if (address.host.empty()) address.host = "localhost";
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host == "localhost")
    address.all = {"127.0.0.1", "::1"};
  else
    address.all = {address.host};
  return address;
}

bool is_loopback(const std::string& host) {
  const auto address = http::Address::parse(host);
  return host == "localhost" || (address && http::special_use(*address) == "loopback");
}

std::vector<http::Network> proxies_of(const ServeOptions& options) {
  auto given = options.trusted_proxies;
  if (given.empty()) given = {"127.0.0.0/8", "::1"};
  std::vector<http::Network> networks;
  for (const auto& text : given) {
    const auto network = http::Network::parse(text);
    if (!network)
      throw ConfigError{fmt::format(
          "--trusted-proxy is '{}'; write an address or a network, such as 192.0.2.7 or "
          "10.1.0.0/16",
          text)};
    if (network->bits == 0 || (network->address.is_v4() && network->bits <= 96))
      throw ConfigError{
          fmt::format("--trusted-proxy {} trusts every address; name those of the proxy", text)};
    networks.push_back(*network);
  }
  return networks;
}

std::string in_url(const std::string& host) {
  return host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
}

/// One server for each folder, because each appends to the audit log and knows its last line.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_{try_open_private(folder + "/lock", O_RDWR | O_CREAT)} {
    if (file_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
    throw ConfigError{fmt::format(
        "another server uses {}, or it cannot be written; name another folder with --state",
        folder)};
  }

 private:
  FileDescriptor file_;
};

void make_state_folder(const std::string& folder) {
  try {
    make_private_folder(folder);
    expect_private_entries(folder);
  } catch (const Error& error) {
    throw ConfigError{fmt::format("{}; name another folder with --state", error.what())};
  }
}

GateOptions gate_options(const ServeOptions& options, const std::string& host, int port) {
  GateOptions gate{.no_auth = options.no_auth,
                   .read_only = options.read_only,
                   .secure_cookies = !options.certificate.empty() || options.behind_proxy,
                   .behind_proxy = options.behind_proxy,
                   .proxies = proxies_of(options),
                   .port = port,
                   .hosts = {in_url(host)}};
  if (is_loopback(host)) gate.hosts.insert({"localhost", "127.0.0.1", "[::1]"});
  gate.hosts.insert(options.host_names.begin(), options.host_names.end());
  gate.token = secret_in_file(options.folder + "/token");
  gate.tokens = std::make_shared<Tokens>(options.tokens.empty() ? tokens_file(options.folder)
                                                                : options.tokens);
  if (!options.users.empty()) {
    gate.users = std::make_shared<Users>(options.users);
    gate.users->list();  // says now what is wrong with the file
  }
  gate.trouble = [warn = options.warn](const auto& why) { warn("users_unreadable", why); };
  return gate;
}

std::vector<std::pair<std::string, std::string>> shown(const ServeOptions& options,
                                                       const std::string& url) {
  return {{"url", url},
          {"authentication", options.no_auth         ? "none"
                             : options.users.empty() ? "token"
                                                     : "users"},
          {"actions", options.read_only ? "refused (--read-only)" : "by operators"},
          {"tls", options.certificate.empty() ? options.behind_proxy ? "at the proxy" : "none"
                                              : options.certificate},
          {"names", fmt::format("{}", fmt::join(options.host_names, ", "))},
          {"folder", options.folder},
          {"traces", options.traces ? options.traces->endpoint : "none"}};
}

/// That a store is away, or hangs, is no reason to give this process up; that its storage failed
/// under us is.
Controls::Found sum_of(const std::vector<std::weak_ptr<StorePlace>>& stores) {
  Controls::Found sum;
  for (const auto& each : stores) {
    const auto store = each.lock();
    if (!store) continue;
    const auto found = store->found();
    if (found.broken) return {true, found.trouble};
    if (!found.trouble.empty()) sum.trouble = found.trouble;
  }
  return sum;
}

Controls controls_of(const std::shared_ptr<Listener>& listener, Service& service) {
  const std::vector<std::weak_ptr<StorePlace>> stores{service.stores().begin(),
                                                      service.stores().end()};
  return {.stop = [listener] { listener->stop(); },
          .probe =
              [listener, stores](std::function<void(Controls::Found)> tell) {
                auto found = std::make_shared<Controls::Found>();
                listener->probe([found, stores] { *found = sum_of(stores); },
                                [found, tell = std::move(tell)] { tell(*found); });
              }};
}

}  // namespace

std::string tokens_file(const std::string& folder) { return folder + "/tokens"; }

void check(const ServeOptions& options) {
  const auto address = address_of(options.listen);
  const bool tls = !options.certificate.empty();
  if (tls != !options.key.empty())
    throw ConfigError{"--cert and --key belong together; give both or neither"};
  if (options.behind_proxy && options.host_names.empty())
    throw ConfigError{
        "--behind-proxy needs --allow-host NAME: by which name do people call the proxy?"};
  if (!options.behind_proxy && !options.trusted_proxies.empty())
    throw ConfigError{"--trusted-proxy says where the proxy is; add --behind-proxy"};
  if (options.behind_proxy && !is_loopback(address.host) && options.trusted_proxies.empty())
    throw ConfigError{fmt::format(
        "{} can be reached by others than the proxy, who could say that they are anybody: name the "
        "address of the proxy with --trusted-proxy CIDR, or listen on 127.0.0.1",
        options.listen)};
  proxies_of(options);
  if (options.no_auth && (!is_loopback(address.host) || options.behind_proxy))
    throw ConfigError{
        "--no-auth lets anybody do everything who can reach the server, so it is only allowed on "
        "a loopback address and without a proxy"};
  if (is_loopback(address.host) && !options.behind_proxy) return;
  if (options.users.empty())
    throw ConfigError{fmt::format(
        "{} can be reached from other machines, so people must log in: name them with 'holdfast "
        "user add' and give the file with --users, or listen on 127.0.0.1",
        options.listen)};
  if (!tls && !options.behind_proxy)
    throw ConfigError{fmt::format(
        "{} can be reached from other machines, and passwords would travel in the clear: give "
        "--cert and --key, or --behind-proxy if a proxy does TLS, or listen on 127.0.0.1",
        options.listen)};
}

void serve(const ServeOptions& options, std::vector<StoreToServe> stores,
           const std::function<void(const Started&, Controls)>& started) {
  check(options);
  const auto address = address_of(options.listen);
  make_state_folder(options.folder);
  const FolderLock lock{options.folder};
  // Whoever has the controls may use them when it has ended.
  const auto listener = std::make_shared<Listener>(
      ListenOptions{.hosts = address.all,
                    .port = address.port,
                    .certificate = options.certificate,
                    .key = options.key,
                    .connections = static_cast<std::size_t>(options.max_connections),
                    .per_address = static_cast<std::size_t>(options.max_per_address),
                    .behind_proxy = options.behind_proxy,
                    .no_auth = options.no_auth});
  const auto url = fmt::format("{}://{}:{}", options.certificate.empty() ? "http" : "https",
                               in_url(address.host), listener->port());
  Service service{{.folder = options.folder,
                   .gate = gate_options(options, address.host, listener->port()),
                   .shown = shown(options, url),
                   .traces = options.traces,
                   .payloads = options.payloads,
                   .warn = options.warn},
                  std::move(stores)};
  Started how{.url = url + "/",
              .token_file = options.folder + "/token",
              // These do not keep the server from starting: people and their work need it, and
              // programs are told to ask again.
              .token_faults = faults_of(*service.options().gate.tokens),
              .audit = service.audit().found()};
  for (const auto& store : service.stores()) {
    const auto* opened = store->store();
    how.stores.push_back({store->name(), store->trouble(), opened && opened->is_new});
  }
  if (!options.no_auth) how.login = url + "/login?once=" + service.gate().one_time_code();
  started(how, controls_of(listener, service));
  listener->run(service);
}

}  // namespace holdfast::server
