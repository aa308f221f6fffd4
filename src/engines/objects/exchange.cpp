#include "engines/objects/exchange.hpp"

#include <exception>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "engines/objects/xml.hpp"
#include "http/curl_errors.hpp"
#include "http/headers.hpp"
#include "recovery/backoff.hpp"

namespace holdfast::objects {

namespace {

constexpr long connect_timeout_ms = 10'000;
constexpr long receive_buffer = 256 << 10;
/// Of what a service says that is not the content of a blob. A page of a list is far smaller.
constexpr std::size_t most_body = 32 << 20;

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  curl_easy_setopt(handle, option, value);
}

/// What comes back, as libcurl hands it over.
struct Arrival {
  CURL* handle;
  const Exchange::Sink& sink;
  long wanted;  ///< the status with which the body is what was asked for
  Reply reply{};
  std::exception_ptr thrown{};

  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto& arrival = *static_cast<Arrival*>(self);
    std::string_view line{bytes, size * count};
    if (line.starts_with("HTTP/")) arrival.reply.headers.clear();
    http::add_header_line(arrival.reply.headers, line);
    return line.size();
  }

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Arrival*>(self)->take({bytes, size * count}) ? size * count : 0;
  }

  bool take(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (!sink || status != wanted) {
      reply.body += bytes;
      return reply.body.size() <= most_body;
    }
    try {
      sink(reply, bytes);
    } catch (const std::exception&) {
      thrown = std::current_exception();  // must not go through libcurl
      return false;
    }
    return true;
  }
};

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::unique_ptr<curl_slist, FreeList> header_lines(const http::Headers& headers) {
  std::unique_ptr<curl_slist, FreeList> lines;
  for (const auto& [name, value] : headers) {
    auto* longer = curl_slist_append(lines.get(), fmt::format("{}: {}", name, value).c_str());
    if (!longer) throw std::bad_alloc{};
    static_cast<void>(lines.release());
    lines.reset(longer);
  }
  return lines;
}

void set_method(CURL* handle, const Request& request) {
  if (request.method == "HEAD") return set(handle, CURLOPT_NOBODY, 1L);
  if (request.method == "PUT" || request.method == "POST") {
    // Not as an upload: this way libcurl can send it again by itself, and needs no reader.
    set(handle, CURLOPT_POSTFIELDS, request.body.data() ? request.body.data() : "");
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_limits(CURL* handle, const Server& server) {
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
  set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(server.stall.count()));
  set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  set(handle, CURLOPT_BUFFERSIZE, receive_buffer);
  if (!server.ca_file.empty()) set(handle, CURLOPT_CAINFO, server.ca_file.c_str());
  // A proxy of the environment is for what is elsewhere.
  if (server.origin.find("://127.0.0.1") != std::string::npos ||
      server.origin.find("://localhost") != std::string::npos)
    set(handle, CURLOPT_PROXY, "");
}

double random01() {
  thread_local std::mt19937 generator{std::random_device{}()};
  return std::uniform_real_distribution<>{}(generator);
}

}  // namespace

bool Patience::wait() {
  if (++failed_ >= server_.attempts) return false;
  std::this_thread::sleep_for(backoff_delay(server_.backoff, failed_, random01()));
  return true;
}

void Exchange::GiveBack::operator()(CURL* handle) const {
  std::lock_guard lock{exchange->mutex_};
  exchange->handles_.give(handle);
}

Exchange::Exchange(Server server, std::shared_ptr<const Signer> signer)
    : server_{std::move(server)}, signer_{std::move(signer)} {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) throw Error{"libcurl could not be set up"};
}

Exchange::Handle Exchange::take_handle() {
  std::lock_guard lock{mutex_};
  return {handles_.take(), {this}};
}

Reply Exchange::try_once(const Request& given, const Sink& sink) {
  auto request = given;
  signer_->sign(request);
  auto query = encoded(request.query);
  if (!request.more_query.empty()) query += (query.empty() ? "" : "&") + request.more_query;
  auto url = server_.origin + request.path + (query.empty() ? "" : "?" + query);
  auto lines = header_lines(request.headers);
  auto handle = take_handle();
  char error[CURL_ERROR_SIZE] = {};
  Arrival arrival{handle.get(), sink, request.headers.contains("range") ? 206L : 200L};
  set_limits(handle.get(), server_);
  set(handle.get(), CURLOPT_URL, url.c_str());
  set(handle.get(), CURLOPT_ERRORBUFFER, error);
  set(handle.get(), CURLOPT_HTTPHEADER, lines.get());
  set(handle.get(), CURLOPT_HEADERFUNCTION, &Arrival::on_header);
  set(handle.get(), CURLOPT_HEADERDATA, &arrival);
  set(handle.get(), CURLOPT_WRITEFUNCTION, &Arrival::on_body);
  set(handle.get(), CURLOPT_WRITEDATA, &arrival);
  set_method(handle.get(), request);
  signer_->prepare(handle.get());
  auto code = curl_easy_perform(handle.get());
  if (arrival.thrown) std::rethrow_exception(arrival.thrown);
  if (code != CURLE_OK) {
    auto what = fmt::format("{} does not answer as it should: {}", server_.origin,
                            *error ? error : curl_easy_strerror(code));
    // A certificate that is not to be trusted will be the same in a second.
    if (http::error_type_of(code, error) == http::ErrorType::ssl) throw BlobError{what};
    throw NoReply{what};
  }
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  arrival.reply.status = static_cast<int>(status);
  return std::move(arrival.reply);
}

Exchange::Answered Exchange::send(const Request& request) {
  Patience patience{server_};
  while (true) {
    try {
      auto reply = try_once(request);
      bool repeated = !patience.first();
      if (!passes(reply) || !patience.wait()) return {std::move(reply), repeated};
    } catch (const NoReply&) {
      if (!patience.wait()) throw;
    }
  }
}

bool passes(const Reply& reply) {
  // S3 may find out that it cannot after it has said that it can; and asks to come again where
  // somebody else is writing the same.
  auto in_body = reply.status == 200 && reply.body.size() < 4'096 &&
                 reply.body.find("<Error>") != std::string::npos;
  return reply.status >= 500 || reply.status == 429 || reply.status == 408 || in_body ||
         (reply.status == 409 && element(reply.body, "Code") == "ConditionalRequestConflict") ||
         (reply.status == 400 && element(reply.body, "Code") == "RequestTimeout");
}

std::string encoded(std::string_view text) {
  std::string result;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_' || c == '.' || c == '~';
    result += plain ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::string encoded(const Query& query) {
  std::string text;
  for (const auto& [name, value] : query)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", encoded(name), encoded(value));
  return text;
}

}  // namespace holdfast::objects
