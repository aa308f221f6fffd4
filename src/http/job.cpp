#include "http/job.hpp"

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/signature.hpp>

#include "http/headers.hpp"
#include "http/url_characters.hpp"

namespace holdfast::http {

namespace {

void add_identity(Job& job, const ProcessorOptions& options) {
  auto& headers = job.request.headers;
  headers["x-request-id"] = job.id;
  headers.emplace("idempotency-key", job.id);
  headers.emplace("user-agent", options.user_agent);
}

void add_secrets(Job& job, const ProcessorOptions& options) {
  for (const auto& [header, name] : job.request.secret_headers) {
    auto value = secret_named(name, options);
    check_header(header, value);
    job.secrets[header] = std::move(value);
  }
}

std::optional<std::string> look_up(const std::string& name, const ProcessorOptions& options) {
  if (!options.secrets) return {};
  try {
    return options.secrets(name);
  } catch (const std::exception& error) {
    throw SecretUnreadable{
        fmt::format("it needs the secret '{}', which cannot be read: {}", name, error.what())};
  }
}

std::vector<std::string> signing_keys_of(const Job& job, const ProcessorOptions& options) {
  const auto& name = job.request.sign_with;
  auto at = options.signing_keys.find(name);
  if (at == options.signing_keys.end())
    throw InvalidRequest{
        fmt::format("it is to be signed with '{}', a key that this processor does not have", name)};
  std::vector<std::string> keys;
  for (const auto& key : at->second) keys.push_back(signing_key(key));
  return keys;
}

}  // namespace

std::string secret_named(const std::string& name, const ProcessorOptions& options) {
  auto value = look_up(name, options);
  if (!value)
    throw InvalidRequest{
        fmt::format("it needs the secret '{}', which this processor does not have", name)};
  return std::move(*value);
}

void sign(Job& job, const ProcessorOptions& options) {
  if (job.request.sign_with.empty()) return;
  const auto keys = signing_keys_of(job, options);
  auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto& headers = job.request.headers;
  headers["webhook-id"] = job.id;
  headers["webhook-timestamp"] = std::to_string(now.time_since_epoch().count());
  headers["webhook-signature"] = signature(job.id, now, job.request.body, keys);
}

void unsign(Job& job) {
  if (job.request.sign_with.empty()) return;
  job.request.sign_with.clear();
  for (const auto* header : {"webhook-id", "webhook-timestamp", "webhook-signature"})
    job.request.headers.erase(header);
}

Job make_job(Request request, std::string id, const ProcessorOptions& options) {
  Job job;
  job.request = std::move(request);
  job.request.url = escaped(job.request.url);
  job.id = std::move(id);
  job.timeout = job.request.timeout.value_or(options.request_timeout);
  job.max_redirects = job.request.max_redirects.value_or(options.max_redirects);
  add_identity(job, options);
  add_secrets(job, options);
  if (!job.request.sign_with.empty()) signing_keys_of(job, options);
  return job;
}

}  // namespace holdfast::http
