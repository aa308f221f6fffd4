#include "engines/objects/service.hpp"

#include <fmt/format.h>

#include "engines/objects/xml.hpp"

namespace holdfast::objects {

namespace {

/// Services allow for 15 minutes.
constexpr std::chrono::minutes apart{10};
constexpr std::size_t longest_message = 200;

}  // namespace

std::chrono::sys_seconds time_of(const Reply& reply) {
  auto date = curl_getdate(reply.header("date").c_str(), nullptr);
  auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return date < 0 ? now : std::chrono::sys_seconds{std::chrono::seconds{date}};
}

std::string code_of(const Reply& reply) {
  auto code = element(reply.body, "Code");
  return code ? *code : reply.header("x-ms-error-code");
}

std::optional<Trouble> clock_trouble(const Reply& reply) {
  auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto ahead = std::chrono::round<std::chrono::minutes>(now - time_of(reply));
  if (ahead < apart && ahead > -apart) return {};
  return Trouble{BlobRefused::Reason::clock,
                 fmt::format("the clock of this host is {} minutes {} that of the service, which "
                             "refuses what is older than 15: set the clock",
                             std::abs(ahead.count()), ahead.count() > 0 ? "ahead of" : "behind")};
}

void fail(const Service& service, const Reply& reply, std::string_view doing,
          const std::string& what) {
  auto code = code_of(reply);
  auto begin = fmt::format("cannot {} {}: the service says {}{}{}", doing, what, reply.status,
                           code.empty() ? "" : " ", code);
  if (auto trouble = service.trouble(reply))
    throw BlobRefused{trouble->reason, begin + "; " + trouble->advice};
  auto message = element(reply.body, "Message").value_or("");
  auto line = message.substr(0, std::min(message.find('\n'), longest_message));
  throw BlobError{begin + (line.empty() ? "" : " (" + line + ")")};
}

}  // namespace holdfast::objects
