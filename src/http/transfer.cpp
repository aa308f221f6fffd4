#include "http/transfer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/curl_errors.hpp"
#include "http/headers.hpp"
#include "http/phase.hpp"
#include "http/redirect.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

constexpr std::size_t most_header_bytes = 65'536;
/// Of a transfer, for receiving. Answers are small, and there are thousands of them at once.
constexpr long receive_buffer = 8'192;
constexpr const char* encodings = "gzip, br, deflate";

constexpr char* nothing = nullptr;

bool has_body(Method method) {
  return method == Method::post || method == Method::put || method == Method::patch;
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  curl_easy_setopt(handle, option, value);
}

}  // namespace

Transfer::Transfer(Job job, const Site& site)
    : job_{std::move(job)}, site_{site}, handle_{site.handles.take(), {&site.handles}} {
  origin_ = origin_of(job_.request.url);
}

/// What it points to is gone in a moment.
void Transfer::GiveBack::operator()(CURL* handle) const {
  set(handle, CURLOPT_ERRORBUFFER, nothing);
  set(handle, CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  handles->give(handle);
}

void Transfer::prepare() {
  auto redirects = std::move(response_.redirects);
  response_ = {};
  response_.redirects = std::move(redirects);
  header_bytes_ = 0;
  was_sent_ = dropped_ = false;
  refused_.reset();
  resolved_ = connected_ = false;
  check_host();
  auto* handle = handle_.get();
  set(handle, CURLOPT_URL, job_.request.url.c_str());
  set(handle, CURLOPT_ERRORBUFFER, error_);
  set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(job_.timeout.count()));
  set(handle, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(site_.options.connect_timeout, job_.timeout).count()));
  // On a connection that turns out to be closed, libcurl sends a second time by itself. On a new
  // one it does not.
  set(handle, CURLOPT_FRESH_CONNECT, is_only_once(job_.request) ? 1L : 0L);
  // A connection that is being made may have room for others. One without TLS has not, and who
  // waits for it would wait for its first answer.
  set(handle, CURLOPT_PIPEWAIT, origin_.scheme == "https" ? 1L : 0L);
  for (auto data :
       {CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA})
    set(handle, data, this);
  // Not before: it may have waited for a place at its host, and after a redirect its body may be
  // another one.
  sign(job_, origin_);
  set_method();
  set_headers();
}

void Transfer::set_constants(CURL* handle, const Site& site) {
  const auto& options = site.options;
  set(handle, CURLOPT_NOSIGNAL, 1L);
  // Otherwise the end of a request whose name is still being looked up waits for that thread, and
  // with it everybody in the loop.
  set(handle, CURLOPT_QUICK_EXIT, 1L);
  set(handle, CURLOPT_BUFFERSIZE, receive_buffer);
  set(handle, CURLOPT_DNS_CACHE_TIMEOUT,
      static_cast<long>(options.dns_cache / std::chrono::seconds{1}));
  set(handle, CURLOPT_MAXAGE_CONN,
      static_cast<long>(options.idle_timeout / std::chrono::seconds{1}));
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_PROXY, options.proxy.c_str());  // empty: none, not even the environment's
  set(handle, CURLOPT_NOPROXY, "");
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  set(handle, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.ca_file.empty()) {
    set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
    set(handle, CURLOPT_PROXY_CAINFO, options.ca_file.c_str());
  }
  auto version =
      options.version == HttpVersion::http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;
  set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(version));
  set(handle, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(handle, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(handle, CURLOPT_OPENSOCKETFUNCTION, &Transfer::on_socket);
  set(handle, CURLOPT_CLOSESOCKETFUNCTION, &Transfer::on_close);
  set(handle, CURLOPT_CLOSESOCKETDATA, &site.sockets);
  set(handle, CURLOPT_PREREQFUNCTION, &Transfer::on_send);
}

/// Two readers of URLs that disagree about the host are how guards are fooled.
void Transfer::check_host() {
  if (is_plainly_written(job_.request.url, origin_)) return;
  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url{curl_url(), &curl_url_cleanup};
  char* part = nullptr;
  bool read = curl_url_set(url.get(), CURLUPART_URL, job_.request.url.c_str(), 0) == CURLUE_OK &&
              curl_url_get(url.get(), CURLUPART_HOST, &part, 0) == CURLUE_OK;
  auto host = read ? lower(part) : std::string{};
  curl_free(part);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  // An address of IPv6 can be written in many ways, and libcurl gives the shortest.
  auto address = Address::parse(host);
  bool same = address ? address == Address::parse(origin_.host)
                      : host == origin_.host && !ends_in_number(host);
  if (!same)
    throw InvalidRequest{fmt::format("the host of '{}' can be read in two ways; write it plainly",
                                     without_query(job_.request.url))};
}

void Transfer::set_method() {
  auto* handle = handle_.get();
  const auto& request = job_.request;
  // Nothing of what the handle did before. The last of these undoes what the others say of a
  // method.
  set(handle, CURLOPT_CUSTOMREQUEST, nothing);
  set(handle, CURLOPT_POSTFIELDS, nothing);
  set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(-1));
  set(handle, CURLOPT_HTTPGET, 1L);
  switch (request.method) {
    case Method::get:
      return;
    case Method::head:
      set(handle, CURLOPT_NOBODY, 1L);
      return;
    case Method::delete_:
      set(handle, CURLOPT_CUSTOMREQUEST, "DELETE");
      return;
    case Method::post:
    case Method::put:
    case Method::patch:
      break;
  }
  set(handle, CURLOPT_POST, 1L);
  set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set(handle, CURLOPT_POSTFIELDS, request.body.c_str());
  if (request.method != Method::post)
    set(handle, CURLOPT_CUSTOMREQUEST, std::string{to_string(request.method)}.c_str());
}

void Transfer::set_headers() {
  curl_slist* lines = nullptr;
  std::string line;
  auto add = [&](std::string_view name, std::string_view value) {
    // A header without a value is written with a semicolon, or libcurl would leave it out.
    line.assign(name).append(value.empty() ? ";" : ": ").append(value);
    lines = curl_slist_append(lines, line.c_str());
  };
  for (const auto& [name, value] : job_.request.headers) add(name, value);
  for (const auto& [name, value] : secrets_for(job_, origin_)) add(name, value);
  if (!job_.request.headers.contains("accept-encoding")) add("accept-encoding", encodings);
  // What libcurl would add by itself to a body: asking for permission first, and a type.
  if (has_body(job_.request.method)) {
    lines = curl_slist_append(lines, "Expect:");
    if (!job_.request.headers.contains("content-type"))
      lines = curl_slist_append(lines, "Content-Type:");
  }
  header_lines_.reset(lines);
  set(handle_.get(), CURLOPT_HTTPHEADER, lines);
}

std::size_t Transfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->take_body({bytes, size * count}) ? size * count : 0;
}

bool Transfer::take_body(std::string_view bytes) {
  if (!keeps_body()) return true;
  auto most = site_.options.max_response_bytes;
  if (response_.body.size() + bytes.size() > most) {
    refused_ = ErrorType::response_too_large;
    refusal_ = fmt::format("the answer has more than {} bytes", most);
    return false;
  }
  response_.body.append(bytes);
  return true;
}

std::size_t Transfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->take_header({bytes, size * count}) ? size * count : 0;
}

bool Transfer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > most_header_bytes) {
    refused_ = ErrorType::response_too_large;
    refusal_ = fmt::format("the headers of the answer have more than {} bytes", most_header_bytes);
    return false;
  }
  // Every answer begins anew: before the one that counts there may be others (100, 103).
  if (line.starts_with("HTTP/")) {
    response_.headers.clear();
    length_is_checked_ = false;
    return true;
  }
  add_header_line(response_.headers, line);
  // What comes behind a body ends with an empty line, too.
  const bool is_last = line == "\r\n" || line == "\n";
  return !is_last || std::exchange(length_is_checked_, true) || check_length();
}

bool Transfer::keeps_body() const {
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  const bool leads_on = is_redirect(static_cast<int>(status)) && job_.max_redirects > 0 &&
                        response_.headers.contains("location");
  return job_.request.method != Method::head && status != 304 && !leads_on;
}

bool Transfer::check_length() {
  auto length = response_.headers.find("content-length");
  if (length == response_.headers.end() || !keeps_body()) return true;
  const auto announced = length_in(length->second);
  if (announced && *announced <= site_.options.max_response_bytes) return true;
  refused_ = announced ? ErrorType::response_too_large : ErrorType::connection;
  refusal_ = announced
                 ? fmt::format("the answer is said to have {} bytes, and at most {} are allowed",
                               length->second, site_.options.max_response_bytes)
                 : fmt::format("{} says '{}' of the length of its answer, which is none",
                               origin_.host, plain(length->second));
  return false;
}

curl_socket_t Transfer::on_socket(void* data, curlsocktype, curl_sockaddr* address) {
  auto& self = *static_cast<Transfer*>(data);
  self.resolved_ = true;
  // Where there is a proxy, it is what we connect to, and somebody chose it.
  if (self.site_.options.proxy.empty()) {
    auto to = Address::of(address->addr);
    auto why = to ? self.site_.egress.refusal(self.origin_.host, *to, self.origin_.port)
                  : std::string{"it has no address of the internet"};
    if (!why.empty()) {
      self.refused_ = ErrorType::blocked_address;
      self.refusal_ = std::move(why);
      return CURL_SOCKET_BAD;
    }
  }
  self.refused_.reset();  // an earlier address of the same name may have been refused
  int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (socket >= 0) self.site_.sockets.opened(socket);
  return socket;
}

int Transfer::on_close(void* sockets, curl_socket_t socket) {
  static_cast<WatchedSockets*>(sockets)->closed(socket);
  return ::close(socket);
}

int Transfer::on_send(void* data, char* ip, char*, int, int) {
  auto& self = *static_cast<Transfer*>(data);
  self.connected_ = true;
  // A connection that is used again was not opened for this request.
  auto address = Address::parse(ip ? ip : "");
  if (self.site_.options.proxy.empty() && address) {
    auto why = self.site_.egress.refusal(self.origin_.host, *address, self.origin_.port);
    if (!why.empty()) {
      self.refused_ = ErrorType::blocked_address;
      self.refusal_ = std::move(why);
      return CURL_PREREQFUNC_ABORT;
    }
  }
  // On a connection that the server closes after reading, libcurl sends again by itself, as often
  // as it has connections to spare, and has no option against that. The next attempt may do so.
  if (self.was_sent_) {
    self.dropped_ = true;
    self.refused_ = ErrorType::connection;
    self.refusal_ = fmt::format(
        "{} closed the connection without an answer; the request may have arrived, so it is not "
        "sent again on another connection",
        self.origin_.host);
    return CURL_PREREQFUNC_ABORT;
  }
  self.was_sent_ = true;
  self.maybe_sent_ = true;
  return CURL_PREREQFUNC_OK;
}

}  // namespace holdfast::http
