#include "documents/http_target.hpp"

#include <algorithm>

#include <holdfast/payload.hpp>

namespace holdfast {

std::string host_of(const std::string& url) {
  auto host = url.substr(std::min(url.size(), url.find("//") + 2));
  return host.substr(0, host.find_first_of("/?#"));
}

HttpTarget target_of(const TaskRecord& task) {
  auto json = parse_json(task.payload);
  const auto* object = json.if_object();
  const auto* url = object ? object->if_contains("url") : nullptr;
  const auto* method = object ? object->if_contains("http_method") : nullptr;
  if (!url || !url->is_string() || !method || !method->is_string()) return {};
  return {std::string{method->get_string()}, host_of(std::string{url->get_string()})};
}

}  // namespace holdfast
