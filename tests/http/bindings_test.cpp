#include <gmock/gmock.h>

#include <holdfast/error.hpp>
#include <holdfast/http/secrets.hpp>

#include "http/bound_host.hpp"
#include "http/headers.hpp"
#include "http/job.hpp"

namespace holdfast::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool covers(const std::string& bound, const std::string& url) {
  return BoundHost::parse(bound).covers(origin_of(url));
}

TEST(Bindings, CoverOneOriginAndNoNeighbor) {
  for (const auto* url : {"https://api.example.org", "https://API.Example.Org/x?y",
                          "https://api.example.org:443/", "HTTPS://api%2Eexample.org/"})
    EXPECT_TRUE(covers("api.example.org", url)) << url;
  for (const auto* url :
       {"http://api.example.org/", "https://api.example.org:8443/", "https://api.example.org./",
        "https://evil.org/api.example.org", "https://api.example.org.evil.org/",
        "https://evilapi.example.org/", "https://x.api.example.org/", "https://example.org/",
        "https://api-example.org/", "https://evil.org?api.example.org",
        "https://evil.org#@api.example.org"})
    EXPECT_FALSE(covers("api.example.org", url)) << url;
  EXPECT_TRUE(covers("api.example.org:8443", "https://api.example.org:8443/"));
  EXPECT_FALSE(covers("api.example.org:8443", "https://api.example.org/"));
  EXPECT_TRUE(covers("http://10.0.0.7:8080", "http://10.0.0.7:8080/x"));
  EXPECT_FALSE(covers("http://10.0.0.7:8080", "https://10.0.0.7:8080/x"));
  EXPECT_TRUE(covers("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/"));
  EXPECT_FALSE(covers("http://[::1]:8080", "http://[::2]:8080/"));
}

TEST(Bindings, WithAWildcardCoverWhatIsBelowADomain) {
  EXPECT_TRUE(covers("*.example.org", "https://api.example.org/"));
  EXPECT_TRUE(covers("*.example.org", "https://a.b.example.org/"));
  for (const auto* url :
       {"https://example.org/", "https://evilexample.org/", "https://api.example.org.evil.org/",
        "http://api.example.org/", "https://api.example.org./", "https://api.example.org:444/"})
    EXPECT_FALSE(covers("*.example.org", url)) << url;
  EXPECT_TRUE(covers("http://*.example.org:8080", "http://a.example.org:8080/"));
}

TEST(Bindings, AreRefusedWhereTheyCouldBeMisread) {
  for (const auto* host : {"",
                           "*",
                           "*.",
                           "*.org",
                           "*.10.0.0.1",
                           "a.*.org",
                           "*a.example.org",
                           "https://",
                           "ftp://a.example.org",
                           "user@a.example.org",
                           "https://user:pw@a.example.org",
                           "a.example.org/path",
                           "a.example.org?",
                           "a.example.org#",
                           "a.example.org.",
                           "a b",
                           "a.example.org:",
                           "a.example.org:0",
                           "a.example.org:99999",
                           "a.example.org:x",
                           "2130706433",
                           "0x7f.1",
                           "127.1",
                           "\xc3\xa9.example.org",
                           "a%2eexample.org",
                           "::1",
                           "a\\b"})
    EXPECT_THROW(validate(Binding{.hosts = {host}}), ConfigError) << host;
  for (const auto* pattern : {"", "*a", "a*b", "a**"}) {
    EXPECT_THROW(validate(Binding{.queues = {pattern}}), ConfigError) << pattern;
    EXPECT_THROW(validate(Binding{.kinds = {pattern}}), ConfigError) << pattern;
  }
}

TEST(Bindings, AreReadFromLines) {
  const auto binding = parse_binding(
      "# The bank's.\n\nhost api.example.org # production\r\n\thost  http://127.0.0.1:8080\n"
      "queue billing*\nkind holdfast.http",
      "token.bind");
  EXPECT_THAT(binding.hosts, ElementsAre("api.example.org", "http://127.0.0.1:8080"));
  EXPECT_THAT(binding.queues, ElementsAre("billing*"));
  EXPECT_THAT(binding.kinds, ElementsAre("holdfast.http"));
  const auto refusal = [](const std::string& text) {
    try {
      parse_binding(text, "token.bind");
      return std::string{};
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  EXPECT_THAT(refusal(""), HasSubstr("token.bind names no host"));
  EXPECT_THAT(refusal("queue a\n# host b.example.org"), HasSubstr("names no host"));
  EXPECT_THAT(refusal("host a.example.org\nhosts b"), HasSubstr("token.bind:2: unknown word"));
  EXPECT_THAT(refusal("host"), HasSubstr("token.bind:1: ''"));
  EXPECT_THAT(refusal("host a.example.org b.example.org"), HasSubstr("only a host and a port"));
}

class Uses : public testing::Test {
 protected:
  std::string refusal(const Binding& binding, bool unbound_allowed = false) const {
    try {
      check_use("secret 'token'", binding,
                {origin_of("https://api.example.org"), [] { return "billing-7"; }, "holdfast.http",
                 unbound_allowed});
      return {};
    } catch (const InvalidRequest& error) {
      return error.what();
    }
  }
};

TEST_F(Uses, AreRefusedWithTheLineToAdd) {
  EXPECT_THAT(refusal({.source = "token.bind"}),
              HasSubstr("not bound to https://api.example.org, so it is not sent there; if it "
                        "should be, add the line 'host api.example.org' to token.bind"));
  EXPECT_THAT(refusal({}), HasSubstr("add 'api.example.org' to the hosts of its binding"));
  EXPECT_THAT(refusal({.hosts = {"b.example.org"}}), HasSubstr("not bound to"));
  const std::vector<std::string> right{"b.example.org", "*.example.org"};
  EXPECT_THAT(refusal({.hosts = right}), IsEmpty());
  EXPECT_THAT(refusal({.hosts = right, .queues = {"billing*"}, .kinds = {"holdfast.*"}}),
              IsEmpty());
  EXPECT_THAT(
      refusal({.hosts = right, .queues = {"billing"}, .source = "token.bind"}),
      HasSubstr("queue 'billing-7'; if they should use it, add the line 'queue billing-7'"));
  EXPECT_THAT(refusal({.hosts = right, .kinds = {"mail"}}), HasSubstr("kind 'holdfast.http'"));
}

TEST_F(Uses, OfWhatIsNotBoundAtAllCanBeAllowed) {
  EXPECT_THAT(refusal({}, true), IsEmpty());
  EXPECT_THAT(refusal({.hosts = {"b.example.org"}}, true), HasSubstr("not bound to"));
  EXPECT_THAT(refusal({.queues = {"mail"}}, true), HasSubstr("not bound to"));
}

ProcessorOptions with_everything() {
  ProcessorOptions options;
  const Binding binding{.hosts = {"a.example.org"}};
  options.secrets = [=](const std::string& name) { return Secret{"s3cret-" + name, binding}; };
  options.signing_keys["main"] = {{std::string(32, 'k'), binding}};
  return options;
}

TEST(Jobs, GiveSecretsToTheirOriginOnly) {
  Request request{.url = "https://a.example.org/"};
  request.secret_headers = {{"x-api-key", "token"}};
  request.sign_with = "main";
  auto job = make_job(request, "id", {}, with_everything());
  EXPECT_EQ(secrets_for(job, origin_of("https://a.example.org/other")).at("x-api-key"),
            "s3cret-token");
  for (const auto* other : {"https://b.example.org/", "https://a.example.org:8443/",
                            "http://a.example.org/", "https://a.example.org./"}) {
    EXPECT_THAT(secrets_for(job, origin_of(other)), IsEmpty()) << other;
    sign(job, origin_of(other));
    EXPECT_FALSE(job.request.headers.contains("webhook-signature")) << other;
  }
  sign(job, origin_of("https://a.example.org/"));
  EXPECT_TRUE(job.request.headers.contains("webhook-signature"));
  leave_origin(job);
  EXPECT_THAT(secrets_for(job, origin_of("https://a.example.org/")), IsEmpty()) << "not even back";
  EXPECT_THAT(job.secrets, IsEmpty());
  EXPECT_THAT(job.signing_keys, IsEmpty());
}

TEST(Jobs, LeaveEveryHeaderBehindThatIsNotKnownToBeHarmless) {
  Request request{.url = "https://a.example.org/"};
  for (const auto* name : {"authorization", "cookie", "x-api-key", "x-auth-token", "api-key",
                           "idempotency-key", "referer", "x-anything", "webhook-signature",
                           "if-none-match", "content-language", "accept", "accept-language"})
    request.headers[name] = "value";
  auto job = make_job(request, "id", {}, {});
  leave_origin(job);
  std::vector<std::string> kept;
  for (const auto& [name, value] : job.request.headers) kept.push_back(name);
  EXPECT_THAT(kept, ElementsAre("accept", "accept-language", "user-agent", "x-request-id"));
}

TEST(Jobs, PutSecretsIntoUrlsOfTheirOriginOnly) {
  const Asker asker{.secret_params = {{"sig", "token"}}};
  EXPECT_EQ(
      make_job({.url = "https://a.example.org/x"}, "id", asker, with_everything()).request.url,
      "https://a.example.org/x?sig=s3cret-token");
  for (const auto* url : {"https://b.example.org/x", "http://a.example.org/x"})
    EXPECT_THROW(make_job({.url = url}, "id", asker, with_everything()), InvalidRequest) << url;
}

}  // namespace
}  // namespace holdfast::http
