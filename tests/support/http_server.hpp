#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

struct ServedRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers{};  ///< names in lower case
  std::string body{};
};

/// What the server does with a request. It can be as bad as a test wants it.
struct Reply {
  enum class Then { stay, close, reset };

  std::string bytes{};                 ///< everything, from the status line on
  std::chrono::milliseconds after{0};  ///< before the first byte
  std::size_t piece = 1u << 20;        ///< so many at once,
  std::chrono::milliseconds pause{0};  ///< with a pause between them
  Then then = Then::stay;
  bool never = false;  ///< no byte ever
  bool waits = false;  ///< no byte before `HttpServer::release`
};

/// A whole answer with a body and its length.
Reply answer(int status, const std::string& body = {}, const std::string& header_lines = {});

/// An HTTP server on loopback in a thread of its own. Holds thousands of connections.
class HttpServer {
 public:
  using Handler = std::function<Reply(const ServedRequest&)>;
  enum class At { ipv4, ipv6 };  ///< 127.0.0.1 or ::1
  explicit HttpServer(Handler handler, At at = At::ipv4);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Answers those who wait, and from now on everybody at once. From any thread, handlers too.
  void release();

  std::string url(const std::string& path = "/") const;
  int port() const { return port_; }
  int connections() const { return connections_; }    ///< that were made
  int open() const { return open_; }                  ///< of them still open
  int served() const { return served_; }              ///< requests that were read to their end
  int most_at_once() const { return most_at_once_; }  ///< of them waiting for an answer

 private:
  struct Client;
  struct Due {
    std::chrono::steady_clock::time_point at;
    std::weak_ptr<Client> client;
    bool operator>(const Due& other) const { return at > other.at; }
  };

  void run();
  void accept_all();
  void read_from(const std::shared_ptr<Client>& client);
  void take_requests(const std::shared_ptr<Client>& client);
  void write_to(const std::shared_ptr<Client>& client);
  void drop(const std::shared_ptr<Client>& client, bool reset);
  int run_due();

  Handler handler_;
  At at_;
  int listener_ = -1, epoll_ = -1, wake_ = -1, port_ = 0;
  std::map<int, std::shared_ptr<Client>> clients_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::atomic<int> served_ = 0, most_at_once_ = 0, connections_ = 0, open_ = 0;
  int waiting_ = 0;
  std::vector<std::weak_ptr<Client>> held_;
  std::atomic<bool> ends_ = false, released_ = false;
  std::thread thread_;
};

}  // namespace holdfast::test
