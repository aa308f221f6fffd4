#pragma once

#include <memory>
#include <optional>

#include <curl/curl.h>

#include "http/egress.hpp"
#include "http/job.hpp"
#include "http/spare_handles.hpp"
#include "http/url.hpp"
#include "http/watched_sockets.hpp"

namespace holdfast::http {

/// What all transfers of a processor share.
struct Site {
  const ProcessorOptions& options;
  const Egress& egress;
  WatchedSockets& sockets;
  SpareHandles& handles;
};

/// One request on its way, hop by hop: a libcurl handle and what came back so far. Follows
/// redirects itself, because every hop has to be checked.
class Transfer {
 public:
  /// Throws `InvalidRequest` for what cannot be sent.
  Transfer(Job job, const Site& site);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Options that are the same for all transfers, for `Site::handles`.
  static void set_constants(CURL* handle, const Site& site);

  CURL* handle() const { return handle_.get(); }
  const Origin& origin() const { return origin_; }
  const Job& job() const { return job_; }
  bool resolved() const { return resolved_; }
  bool connected() const { return connected_; }
  bool maybe_sent() const { return maybe_sent_; }
  /// Nobody was asked: the guard refused the address.
  bool blocked() const { return refused_ == ErrorType::blocked_address; }

  /// Gets the handle ready for the next hop. Throws `InvalidRequest` for what cannot be sent.
  void prepare();
  /// The hop is over. Nothing: another one follows, after `prepare`, at another `origin`.
  std::optional<Answer> finish(CURLcode code);
  /// The end without a hop.
  Answer cancelled() const { return {Cancelled{}, maybe_sent_}; }
  Answer failed(ErrorType type, std::string message) const;

 private:
  void set_method();
  void set_headers();
  void check_host();
  std::optional<Answer> follow(const struct Follow& follow);
  std::optional<Answer> decode_body();  ///< nothing: it went well
  Answer broken(CURLcode code) const;
  Answer damaged() const;

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_close(void* sockets, curl_socket_t socket);
  static int on_send(void* self, char* ip, char* local, int port, int local_port);
  bool take_body(std::string_view bytes);
  bool take_header(std::string_view line);
  bool check_length();
  /// Not that of an answer that has none, whatever length it tells, nor the page beside a redirect.
  bool keeps_body() const;

  struct GiveBack {
    SpareHandles* handles;
    void operator()(CURL* handle) const;
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  Job job_;
  const Site& site_;
  std::unique_ptr<CURL, GiveBack> handle_;
  std::unique_ptr<curl_slist, FreeList> header_lines_;
  char error_[CURL_ERROR_SIZE] = {};
  Origin origin_{};
  bool resolved_ = false, connected_ = false;
  bool maybe_sent_ = false;

  // Of this hop.
  Response response_{};
  std::size_t header_bytes_ = 0;
  bool was_sent_ = false, dropped_ = false;
  bool length_is_checked_ = false;
  std::optional<ErrorType> refused_{};
  std::string refusal_;
};

}  // namespace holdfast::http
