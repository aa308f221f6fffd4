#include "server/request.hpp"

namespace holdfast::server {

std::string_view Request::header(std::string_view name) const {
  const auto found = headers.find(std::string{name});
  return found == headers.end() ? std::string_view{} : found->second;
}

Response json_response(std::string document, int status) {
  Response response;
  response.status = status;
  response.body = std::move(document);
  return response;
}

Response no_content() {
  Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

}  // namespace holdfast::server
