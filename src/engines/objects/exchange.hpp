#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include <holdfast/blobs.hpp>
#include <holdfast/task.hpp>

#include "engines/objects/request.hpp"
#include "http/spare_handles.hpp"

namespace holdfast::objects {

/// Nobody answered, or not to the end. It may have been done all the same.
class NoReply : public BlobError {
  using BlobError::BlobError;
};

/// How a service knows who asks.
class Signer {
 public:
  virtual ~Signer() = default;
  /// Says in the request who we are. Called for every attempt, because signatures do not keep.
  virtual void sign(Request& request) const = 0;
  /// For what libcurl has to do itself.
  virtual void prepare(CURL*) const {}
};

/// Where a service is, and how long it is waited for.
struct Server {
  std::string origin;     ///< `https://HOST:PORT`
  std::string ca_file{};  ///< certificates to trust; empty: the system's
  /// A request that was not answered, or answered with trouble that passes, is sent again.
  int attempts = 6;
  Backoff backoff{Millis{200}, 2.0, Millis{5'000}, 0.5};
  std::chrono::seconds stall{30};  ///< without a byte for so long, it is cut off
};

/// Counts attempts, and waits between them.
class Patience {
 public:
  explicit Patience(const Server& server) : server_{server} {}
  /// False: it was enough. Otherwise waits.
  bool wait();
  bool first() const { return failed_ == 0; }

 private:
  const Server& server_;
  int failed_ = 0;
};

/// Sends requests over connections that are kept. Safe to use from many threads.
class Exchange {
 public:
  /// Gets a piece of a body, and the head of the reply that it belongs to.
  using Sink = std::function<void(const Reply&, std::string_view)>;

  Exchange(Server server, std::shared_ptr<const Signer> signer);

  /// One attempt. The body of a reply that has what was asked for goes to `sink`, if there is one.
  Reply try_once(const Request& request, const Sink& sink = {});

  struct Answered {
    Reply reply;
    bool repeated = false;  ///< an earlier attempt may have done it
  };
  /// As many attempts as it takes and the server's patience allows. Whatever it says in the end is
  /// the reply; throws `NoReply` where it says nothing.
  Answered send(const Request& request);

  const Server& server() const { return server_; }

 private:
  struct GiveBack {
    Exchange* exchange;
    void operator()(CURL* handle) const;
  };
  using Handle = std::unique_ptr<CURL, GiveBack>;
  Handle take_handle();

  Server server_;
  std::shared_ptr<const Signer> signer_;
  std::mutex mutex_;
  http::SpareHandles handles_;
};

/// Trouble of the service's own, which passes.
bool passes(const Reply& reply);

}  // namespace holdfast::objects
