#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "engines/azure/shared_key.hpp"
#include "engines/azure/target.hpp"
#include "engines/objects/xml.hpp"
#include "engines/s3/target.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

using testing::HasSubstr;
using testing::Not;

/// With keys in the environment, and nothing else of it.
class BlobAddresses : public testing::Test {
 protected:
  BlobAddresses() {
    for (const char* name :
         {"AZURE_STORAGE_SAS_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"})
      ::unsetenv(name);
    ::setenv("AZURE_STORAGE_KEY", "a2V5", 1);
    ::setenv("AWS_ACCESS_KEY_ID", "id", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  }
  static std::string azure(const std::string& address) {
    auto target = azure::parse(address);
    return target.server.origin + target.place.root + " " + target.account.name + " " +
           target.account.container + " " + target.place.prefix;
  }
  static std::string s3(const std::string& address) {
    auto target = s3::parse(address);
    return target.server.origin + target.place.root + " " + target.bucket.region + " " +
           target.place.prefix;
  }
  static std::string error_of(const std::string& address) {
    try {
      open_blobs(address);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  }
  TempStore store_;
};

TEST_F(BlobAddresses, LeadToContainersOfAzure) {
  EXPECT_EQ(azure("azure://acc/parts"), "https://acc.blob.core.windows.net/parts acc parts ");
  EXPECT_EQ(azure("azure://acc/parts/a/b"),
            "https://acc.blob.core.windows.net/parts acc parts a/b/");
  EXPECT_EQ(azure("azure+http://acc@127.0.0.1:10000/parts"),
            "http://127.0.0.1:10000/acc/parts acc parts ");
  EXPECT_EQ(azure("azure://acc@acc.blob.example.org/parts"),
            "https://acc.blob.example.org/parts acc parts ");
  EXPECT_EQ(azure("https://acc.blob.core.windows.net/parts/x"),
            "https://acc.blob.core.windows.net/parts acc parts x/");
  EXPECT_EQ(azure("http://127.0.0.1:10000/acc/parts"),
            "http://127.0.0.1:10000/acc/parts acc parts ");
}

TEST_F(BlobAddresses, LeadToBucketsOfS3) {
  EXPECT_EQ(s3("s3://parts"), "https://parts.s3.us-east-1.amazonaws.com us-east-1 ");
  EXPECT_EQ(s3("s3://parts/a?region=eu-central-1"),
            "https://parts.s3.eu-central-1.amazonaws.com eu-central-1 a/");
  EXPECT_EQ(s3("s3://my.parts"), "https://s3.us-east-1.amazonaws.com/my.parts us-east-1 ");
  EXPECT_EQ(s3("s3+http://parts@127.0.0.1:9000"), "http://127.0.0.1:9000/parts us-east-1 ");
  EXPECT_EQ(s3("s3://parts@parts.example.org"), "https://parts.example.org us-east-1 ");
}

TEST_F(BlobAddresses, ThatMakeNoSenseAreRefusedWithWhatToWrite) {
  EXPECT_THAT(error_of("azure://acc"), HasSubstr("azure://ACCOUNT/CONTAINER"));
  EXPECT_THAT(error_of("azure://127.0.0.1:10000/acc/parts"), HasSubstr("ACCOUNT@HOST"));
  EXPECT_THAT(error_of("http://127.0.0.1:10000/acc"), HasSubstr("no container"));
  EXPECT_THAT(error_of("azure://acc/parts/../x"), HasSubstr("folder"));
  EXPECT_THAT(error_of("azure://acc/parts?region=x"), HasSubstr("key_file, sas_file, ca_file"));
  EXPECT_THAT(error_of("s3://127.0.0.1:9000/parts"), HasSubstr("s3://BUCKET@HOST:PORT"));
  EXPECT_THAT(error_of("s3://"), HasSubstr("names no host"));
  EXPECT_THAT(error_of("ftp://x"), HasSubstr("azure://ACCOUNT/CONTAINER or s3://BUCKET"));
}

TEST_F(BlobAddresses, SecretsInThemAreRefusedAndNotRepeated) {
  for (std::string address : {"azure://acc/parts?sv=2021&sig=S3CRET", "s3://id:S3CRET@host/parts",
                              "https://acc:S3CRET@acc.blob.core.windows.net/parts"}) {
    auto error = error_of(address);
    EXPECT_THAT(error, HasSubstr("everybody can see"));
    EXPECT_THAT(error, Not(HasSubstr("S3CRET")));
  }
}

TEST_F(BlobAddresses, KeysComeFromFilesOrTheEnvironment) {
  auto file = store_.folder() / "key";
  std::ofstream{file} << "?sv=2021&sig=x\n";
  EXPECT_EQ(azure::parse("azure://acc/parts?sas_file=" + file.string()).account.signature,
            "sv=2021&sig=x");
  EXPECT_EQ(azure::parse("azure://acc/parts").account.key, "key");
  ::unsetenv("AZURE_STORAGE_KEY");
  EXPECT_THAT(error_of("azure://acc/parts"), HasSubstr("AZURE_STORAGE_KEY"));
  EXPECT_THAT(error_of("azure://acc/parts?key_file=/none"), HasSubstr("/none"));
  std::ofstream{file} << "id2\nsecret2\ntoken2\n";
  EXPECT_EQ(s3::parse("s3://parts?key_file=" + file.string()).bucket.session_token, "token2");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  EXPECT_THAT(error_of("s3://parts"), HasSubstr("AWS_SECRET_ACCESS_KEY"));
}

/// The example of a signature in Microsoft's documentation, with a query in another order.
TEST(SharedKey, CoversWhatTheServiceChecks) {
  objects::Request request{
      .method = "GET",
      .path = "/mycontainer",
      .query = {{"restype", "container"}, {"comp", "metadata"}},
      .headers = {{"x-ms-version", "2014-02-14"}, {"x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT"}}};
  EXPECT_EQ(azure::text_to_sign(request, "myaccount"),
            "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
            "x-ms-version:2014-02-14\n/myaccount/mycontainer\ncomp:metadata\nrestype:container");
}

TEST(BlobXml, GivesWhatIsThereAndNothingElse) {
  using objects::element;
  EXPECT_EQ(element("<A><Name>a&amp;b&lt;</Name></A>", "Name"), "a&b<");
  EXPECT_EQ(element("<Names>x</Names>", "Name"), std::nullopt);
  EXPECT_EQ(element("<Name>never ends", "Name"), std::nullopt);
  EXPECT_THAT(objects::elements("<B>1</B><B></B><B>3", "B"), testing::ElementsAre("1", ""));
}

}  // namespace holdfast::test
