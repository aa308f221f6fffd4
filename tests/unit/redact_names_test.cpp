#include <gmock/gmock.h>

#include <holdfast/error.hpp>

#include "documents/redact.hpp"
#include "documents/secret_names.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* secret_names[] = {"password",
                                        "Password",
                                        "PASSWORD",
                                        "password2",
                                        "passwd",
                                        "pwd",
                                        "pass",
                                        "passphrase",
                                        "passcode",
                                        "dbPassword",
                                        "db_password",
                                        "DB-PASSWORD",
                                        "dbpassword",
                                        "db_pass",
                                        "smtpPass",
                                        "dbpass",
                                        "userpwd",
                                        "user_pwd",
                                        "PGPASSWORD",
                                        "MYSQL_PWD",
                                        "password_hash",
                                        "passwordHash",
                                        "password_confirmation",
                                        "new_password",
                                        "passwordOld",
                                        "htpasswd",
                                        "secret",
                                        "secrets",
                                        "client_secret",
                                        "clientSecret",
                                        "clientsecret",
                                        "client-secret",
                                        "SecretAccessKey",
                                        "aws_secret_access_key",
                                        "secret_key",
                                        "secretKey",
                                        "SECRET_KEY_BASE64",
                                        "shared_secret",
                                        "webhookSecret",
                                        "token",
                                        "Token",
                                        "access_token",
                                        "accessToken",
                                        "accesstoken",
                                        "ACCESS_TOKEN",
                                        "refresh_token",
                                        "refreshToken",
                                        "id_token",
                                        "auth_token",
                                        "X-Auth-Token",
                                        "x-auth",
                                        "auth",
                                        "x-amz-security-token",
                                        "csrfToken",
                                        "csrf",
                                        "X-CSRF-Token",
                                        "bearer",
                                        "bearer_token",
                                        "jwt",
                                        "sessionToken",
                                        "session_id",
                                        "sessionId",
                                        "sessionid",
                                        "JSESSIONID",
                                        "PHPSESSID",
                                        "session_key",
                                        "apikey",
                                        "apiKey",
                                        "api_key",
                                        "API-KEY",
                                        "X-Api-Key",
                                        "x_api_key",
                                        "openai_api_key",
                                        "googleApiKey",
                                        "privateKey",
                                        "private_key",
                                        "privatekey",
                                        "PRIVATE-KEY",
                                        "rsa_private_key",
                                        "private_key_pem",
                                        "access-key",
                                        "accessKey",
                                        "access_key",
                                        "accesskey",
                                        "accessKeyId",
                                        "AWS_ACCESS_KEY_ID",
                                        "signing_key",
                                        "encryptionKey",
                                        "master_key",
                                        "AccountKey",
                                        "SharedAccessKey",
                                        "ssh_key",
                                        "ocp-apim-subscription-key",
                                        "license_key",
                                        "credential",
                                        "credentials",
                                        "Credentials",
                                        "creds",
                                        "aws_credentials",
                                        "dsn",
                                        "sentry_dsn",
                                        "DATABASE_DSN",
                                        "connection_string",
                                        "connectionString",
                                        "ConnectionString",
                                        "connstr",
                                        "authorization",
                                        "Authorization",
                                        "proxy-authorization",
                                        "HTTP_AUTHORIZATION",
                                        "cookie",
                                        "Cookie",
                                        "set-cookie",
                                        "Set-Cookie",
                                        "setCookie",
                                        "cookies",
                                        "session_cookie",
                                        "otp",
                                        "totp",
                                        "otp_code",
                                        "basic_auth",
                                        "auth_code",
                                        "recovery_codes",
                                        "seed_phrase",
                                        "mnemonic",
                                        "x-hub-signature",
                                        "X-Amz-Signature",
                                        "token_value",
                                        "secret_id",
                                        "$secret",
                                        "passkey",
                                        "pw",
                                        "db_pw",
                                        "cvv",
                                        "cvc",
                                        "sas",
                                        "sas_token",
                                        "licence_key",
                                        "gpg_key",
                                        "recovery_code",
                                        "backup_code",
                                        "unlock_code",
                                        "2fa_code",
                                        "Pass-Word",
                                        "passWord",
                                        "userPassWord2",
                                        "pass word",
                                        "pass_phrase",
                                        "Passwort",
                                        "db_kennwort",
                                        "secretKeyBase",
                                        "SECRET_KEY_BASE",
                                        "certificate_key",
                                        "ssl-key",
                                        "tlsKeyPem"};

constexpr const char* ordinary_names[] = {"monkey",
                                          "keyboard",
                                          "key",
                                          "keys",
                                          "keyword",
                                          "hotkey",
                                          "turkey",
                                          "author",
                                          "authors",
                                          "authored_by",
                                          "authority",
                                          "auth_type",
                                          "auth_url",
                                          "authentication_method",
                                          "tokenizer",
                                          "tokenizer_count",
                                          "token_count",
                                          "tokenCount",
                                          "token_type",
                                          "max_tokens",
                                          "prompt_tokens",
                                          "completion_tokens",
                                          "totalTokens",
                                          "token_expires_at",
                                          "tokenized",
                                          "passenger",
                                          "passengers",
                                          "passed",
                                          "passes",
                                          "pass_rate",
                                          "pass_count",
                                          "bypass",
                                          "compass",
                                          "boarding_pass",
                                          "passive",
                                          "passport_country",
                                          "password_reset_url",
                                          "password_policy",
                                          "password_length",
                                          "passwordless",
                                          "password_changed_at",
                                          "primary_key",
                                          "primaryKey",
                                          "foreign_key",
                                          "sort_key",
                                          "partitionKey",
                                          "unique_key",
                                          "limit_key",
                                          "idempotency_key",
                                          "cache_key",
                                          "routing_key",
                                          "object_key",
                                          "public_key",
                                          "publicKey",
                                          "key_id",
                                          "keyId",
                                          "cookie_policy_accepted",
                                          "cookie_consent",
                                          "cookieCount",
                                          "cookiecutter",
                                          "secretary",
                                          "secret_name",
                                          "secretariat",
                                          "authorization_status",
                                          "authorized",
                                          "session",
                                          "sessions",
                                          "session_count",
                                          "signature",
                                          "email_signature",
                                          "design",
                                          "sign",
                                          "pin",
                                          "pinned",
                                          "spin",
                                          "id",
                                          "user",
                                          "username",
                                          "email",
                                          "url",
                                          "host",
                                          "port",
                                          "database",
                                          "payload",
                                          "result",
                                          "credit",
                                          "accredited",
                                          "credits",
                                          "dsname",
                                          "code",
                                          "zip_code",
                                          "status_code",
                                          "country_code",
                                          "description",
                                          "process",
                                          "access",
                                          "access_level",
                                          "accessKeysRotated",
                                          "private",
                                          "is_private",
                                          "shared",
                                          "api",
                                          "api_version",
                                          "client_id",
                                          "bearing",
                                          "otpional",
                                          "hash",
                                          "checksum",
                                          "salted",
                                          "digest"};

TEST(SecretNames, AreFoundInEverySpelling) {
  for (const auto* name : secret_names) EXPECT_TRUE(is_secret_name(name)) << name;
  EXPECT_GE(std::size(secret_names), 80u);
}

TEST(SecretNames, AreNotSeenInOrdinaryWords) {
  for (const auto* name : ordinary_names) EXPECT_FALSE(is_secret_name(name)) << name;
  EXPECT_GE(std::size(ordinary_names), 60u);
}

TEST(SecretNames, AreMoreInUrls) {
  for (const auto* name : {"key", "sig", "Signature", "token", "access_token", "once"})
    EXPECT_TRUE(is_secret_parameter(name)) << name;
  for (const auto* name : {"keyword", "page", "signed", "design"})
    EXPECT_FALSE(is_secret_parameter(name)) << name;
}

class HideRulesTest : public testing::Test {
 protected:
  ~HideRulesTest() override { set_hide_rules({}); }
};

TEST_F(HideRulesTest, AddNamesAndMakeExceptions) {
  set_hide_rules({.keys = {"card_number", "*_iban"}, .allow = {"token", "csrf*"}});
  for (const auto* name : {"card_number", "cardNumber", "Card-Number", "customer_iban", "myIban"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const auto* name : {"token", "TOKEN", "csrf", "csrfToken", "card", "ibanner"})
    EXPECT_FALSE(is_secret_name(name)) << name;
  EXPECT_TRUE(is_secret_name("access_token")) << "only the name itself is an exception";
  EXPECT_EQ(redact_json(R"({"cardNumber":"4111","token":"17"})").text,
            R"({"cardNumber":"[hidden]","token":"17"})");
  set_hide_rules({});
  EXPECT_FALSE(is_secret_name("card_number"));
  EXPECT_TRUE(is_secret_name("token"));
}

TEST_F(HideRulesTest, AreRefusedIfTheyWouldHideEverything) {
  for (const auto* name : {"*", "", "**", "--"})
    EXPECT_THROW(set_hide_rules({.keys = {name}}), ConfigError) << name;
  EXPECT_THROW(set_hide_rules({.allow = {std::string(1'000, 'a')}}), ConfigError);
}

TEST(SecretNames, AreDecidedInTimeByTheirLength) {
  EXPECT_TRUE(is_secret_name(std::string(1 << 20, 'a') + "_password"));
  EXPECT_FALSE(is_secret_name("password" + std::string(1 << 20, '_') + "a"));
}

}  // namespace
}  // namespace holdfast
