#include "server/wire.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "server/problem.hpp"
#include "server/spool.hpp"

namespace holdfast::server {

namespace {

constexpr std::string_view always =
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n";

/// What decides who asks and for what must be there once.
constexpr std::array<std::string_view, 8> only_once = {
    "host",   "authorization",  "content-type", "content-length",
    "origin", "sec-fetch-site", "x-csrf-token", "transfer-encoding"};

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    default:
      return status < 500 ? "Refused" : "Failed";
  }
}

std::string lower(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return small;
}

bool leads_elsewhere(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == ".." || segment.find('\\') != segment.npos) return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

bool has(const Response& response, std::string_view name) {
  return std::ranges::any_of(response.headers,
                             [&](const auto& header) { return header.first == name; });
}

}  // namespace

Request read_head(std::string_view method, std::string_view target,
                  const std::vector<std::pair<std::string_view, std::string_view>>& headers,
                  std::string& raw_path) {
  if (headers.size() > most_headers)
    throw Problem{431, "too_large", fmt::format("at most {} headers are allowed", most_headers)};
  Request request;
  request.method = method;
  for (const auto& [name, value] : headers) {
    auto [place, first] = request.headers.emplace(lower(name), value);
    if (first) continue;
    if (std::ranges::find(only_once, place->first) != only_once.end())
      throw invalid(fmt::format("the header {} is there twice", place->first));
    place->second += fmt::format("{}{}", place->first == "cookie" ? "; " : ", ", value);
  }
  if (request.headers.contains("transfer-encoding") && request.headers.contains("content-length"))
    throw invalid("a body has either a length or a transfer encoding");
  const auto question = target.find('?');
  raw_path = target.substr(0, question);
  const auto path = percent_decoded(raw_path, false);
  auto query = Query::parse(question == target.npos ? "" : target.substr(question + 1));
  if (!raw_path.starts_with('/') || !path || !query || leads_elsewhere(*path))
    throw invalid("the address of the request cannot be read");
  request.path = *path;
  request.query = *std::move(query);
  return request;
}

std::string write_head(const Response& response, bool keep_alive, bool secure) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
  if (!response.content_type.empty())
    head += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (!response.events && response.status != 204 && response.status != 304)
    head += fmt::format("Content-Length: {}\r\n",
                        response.file ? response.file->size() : response.content().size());
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!has(response, "Cache-Control")) head += "Cache-Control: no-store\r\n";
  if (response.status == 401) head += "WWW-Authenticate: Bearer\r\n";
  head += always;
  if (secure) head += "Strict-Transport-Security: max-age=31536000\r\n";
  return head + (keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

}  // namespace holdfast::server
