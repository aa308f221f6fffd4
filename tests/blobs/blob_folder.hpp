#pragma once

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <holdfast/blobs.hpp>

#include "support/old_blob.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A folder of blobs, looked at from outside: by those who are handed the addresses of its files.
class BlobFolder : public testing::Test {
 protected:
  std::string path(const std::string& key) const { return folder_ / key; }
  static std::string bytes_of(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream{path, std::ios::binary}.rdbuf();
    return content.str();
  }
  void write(const std::string& key, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path{path(key)}.parent_path());
    std::ofstream{path(key), std::ios::binary} << bytes;
  }
  /// All names but those of folders, in order.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_})
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(folder_));
    std::ranges::sort(names);
    return names;
  }
  std::vector<std::string> files_beside_blobs() const {
    auto names = files();
    std::erase_if(names, [](const std::string& name) {
      return std::filesystem::path{name}.filename().string().front() != '.';
    });
    return names;
  }
  ino_t number_of(const std::string& key) const {
    struct stat status {};
    EXPECT_EQ(::lstat(path(key).c_str(), &status), 0) << key;
    return status.st_ino;
  }
  /// The name of the side file that a blob has.
  std::string side_of(const std::string& key) const {
    auto slash = key.rfind('/') + 1;
    return fmt::format("{}.{}.{}.sum", key.substr(0, slash), key.substr(slash), number_of(key));
  }

  TempStore store_;
  std::filesystem::path folder_ = store_.folder() / "blobs";
  std::string address_ = "dir:" + folder_.string();
  std::shared_ptr<BlobStore> blobs_ = open_blobs(address_);
};

}  // namespace holdfast::test
