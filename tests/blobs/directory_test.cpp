#include <fstream>

#include "blobs/blob_contract.hpp"

namespace holdfast::test {

INSTANTIATE_TEST_SUITE_P(Directory, Blobs,
                         testing::Values(BlobHome{"directory", [](const auto& name) {
                                                    auto folder =
                                                        std::filesystem::temp_directory_path() /
                                                        name / "blobs";
                                                    return open_blobs("dir:" + folder.string());
                                                  }}));

TEST(BlobDirectory, WhatWasChangedOnDiskIsNotTakenForTheBlob) {
  TempStore store;
  auto blobs = open_blobs("dir:" + store.folder().string());
  blobs->put("key", "content");
  std::ofstream{store.folder() / "key", std::ios::app} << "!";
  EXPECT_THROW(blobs->get("key"), BlobDamaged);
  std::ofstream{store.folder() / "key"} << "";
  EXPECT_THROW(blobs->get("key"), BlobDamaged);
}

TEST(BlobDirectory, WithoutItsFolderNothingIsKnownOfABlob) {
  TempStore store;
  const auto folder = store.folder() / "blobs", elsewhere = store.folder() / "elsewhere";
  auto blobs = open_blobs("dir:" + folder.string());
  blobs->put("of/key", "content");
  std::filesystem::rename(folder, elsewhere);
  EXPECT_THROW(blobs->get("of/key"), BlobError);
  EXPECT_THROW(blobs->remove("of/key"), BlobError);
  std::ofstream{folder} << "not a folder";
  EXPECT_THROW(blobs->get("of/key"), BlobError);
  std::filesystem::remove(folder);
  std::filesystem::rename(elsewhere, folder);
  EXPECT_EQ(blobs->get("of/key"), "content");
  EXPECT_EQ(blobs->get("of/another"), std::nullopt);
  EXPECT_EQ(blobs->get("another/key"), std::nullopt);
}

TEST(BlobDirectory, AddressesThatMakeNoSenseAreRefused) {
  EXPECT_THROW(open_blobs("dir:"), ConfigError);
  EXPECT_THROW(open_blobs("s3:bucket"), ConfigError);
  EXPECT_THROW(open_blobs("dir:/dev/null/x"), ConfigError);
}

}  // namespace holdfast::test
