#include "server/wire_call.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <boost/json/parse.hpp>

namespace holdfast::test {

namespace {

constexpr int patience_s = 30;

Headers read_headers(const std::string& head) {
  Headers headers;
  std::istringstream lines{head};
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.size() > 1) {
    const auto colon = line.find(": ");
    std::string name = line.substr(0, colon);
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
    headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  return headers;
}

}  // namespace

boost::json::value Answer::json() const { return boost::json::parse(body); }
std::string Answer::code() const { return std::string{json().at("code").as_string()}; }

Wire::Wire(int port) : file_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  const timeval patience{patience_s, 0};
  ::setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error{"cannot connect"};
}

Wire::~Wire() {
  if (file_ >= 0) ::close(file_);
}

bool Wire::send(const std::string& bytes) const {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto done = ::send(file_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (done <= 0) return false;
    sent += static_cast<std::size_t>(done);
  }
  return true;
}

std::optional<std::string> Wire::more() {
  char part[16'384];
  const auto got = ::recv(file_, part, sizeof part, 0);
  if (got <= 0) return {};
  return std::string(part, static_cast<std::size_t>(got));
}

std::string Wire::until(const std::string& end) {
  auto place = kept_.find(end);
  while (place == std::string::npos) {
    const auto part = more();
    if (!part) return std::exchange(kept_, {});
    kept_ += *part;
    place = kept_.find(end);
  }
  auto text = kept_.substr(0, place + end.size());
  kept_.erase(0, text.size());
  return text;
}

std::string Wire::rest() {
  while (const auto part = more()) kept_ += *part;
  return std::exchange(kept_, {});
}

Answer Wire::answer() {
  Answer answer;
  const auto head = until("\r\n\r\n");
  if (head.size() < 12) return answer;
  answer.status = std::stoi(head.substr(9, 3));
  answer.headers = read_headers(head);
  const auto length = answer.headers.find("content-length");
  const auto bytes = length == answer.headers.end() ? 0 : std::stoul(length->second);
  while (kept_.size() < bytes) {
    const auto part = more();
    if (!part) break;
    kept_ += *part;
  }
  answer.body = kept_.substr(0, bytes);
  kept_.erase(0, answer.body.size());
  return answer;
}

std::string request_text(const std::string& method, const std::string& target,
                         const std::string& body, const Headers& headers) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
  return text + "\r\n" + body;
}

Answer call(int port, const std::string& method, const std::string& target, const std::string& body,
            const Headers& headers) {
  Wire wire{port};
  auto all = headers;
  all.emplace("Host", fmt::format("127.0.0.1:{}", port));
  if (method == "POST") all.emplace("Content-Type", "application/json");
  wire.send(request_text(method, target, body, all));
  return wire.answer();
}

}  // namespace holdfast::test
