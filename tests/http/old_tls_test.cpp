// Debian's OpenSSL refuses old versions of TLS by itself, unless its settings say otherwise. Those
// of a machine must not decide.

#include <openssl/ssl.h>

#include <fstream>

#include <fmt/format.h>

#include "http/program_scenario.hpp"
#include "http/tls_server.hpp"

namespace holdfast::http {
namespace {

using testing::HasSubstr;

using OldTls = ProgramScenario;

TEST_F(OldTls, IsNotSpokenWhateverTheMachineAllows) {
  const auto settings = store_.folder() / "openssl.cnf";
  std::ofstream{settings} << "openssl_conf = all\n[all]\nssl_conf = tls\n[tls]\n"
                             "system_default = lax\n[lax]\n"
                             "MinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n";
  const test::Environment lax{{"OPENSSL_CONF", settings}};
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    const test::TlsServer server{{.newest_version = version}};
    server.trusted_by(store_.folder() / "trusted.pem");
    const auto others = test::run({"/usr/bin/openssl", "s_client", "-quiet", "-connect",
                                   fmt::format("127.0.0.1:{}", server.port())},
                                  lax, "GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(others.out, HasSubstr("200 OK")) << others.err;
    const auto ours = test::run(command({"http", "get", server.url(), "--print", "--allow-private",
                                         "--ca-file", store_.folder() / "trusted.pem"}),
                                lax);
    EXPECT_EQ(ours.ending.code, 1);
    EXPECT_THAT(ours.err, testing::AllOf(HasSubstr("ssl: "), HasSubstr("protocol"))) << ours.out;
    EXPECT_EQ(server.served(), 1) << "that was the other one";
  }
}

}  // namespace
}  // namespace holdfast::http
