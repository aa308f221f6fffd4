#pragma once

#include <memory>
#include <string>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// The folder with the packages of package.json, which are installed if they are not there.
const std::string& blob_packages();

/// Microsoft's emulator with an account and a container of this test's own. The key is in the
/// environment. Ends with this object, and with the test program if that is killed.
class Azurite {
 public:
  static constexpr const char* account = "holdfast";
  static constexpr const char* key = "c29tZSBrZXkgdGhhdCBvbmx5IHRoaXMgdGVzdCBrbm93cw==";
  static constexpr const char* container = "parts";

  Azurite();
  ~Azurite();

  void start();
  /// Lets it write down what it has, as it does when it is asked to end.
  void stop();
  /// Of blobs in a folder of the container; empty: in the container itself.
  std::string address(const std::string& folder = {}) const;
  std::string endpoint() const;  ///< as Microsoft's clients want it
  /// Requests so far in whose log line this is.
  int requests_with(const std::string& text) const;

 private:
  void create_container() const;

  TempStore folder_;
  int port_ = 0;
  std::unique_ptr<Process> process_;
};

/// `s3_front.py`. Its keys are in the environment.
class S3Front {
 public:
  S3Front();
  std::string address(const std::string& folder = {}) const;
  std::string origin() const;
  /// What goes wrong from now on; see there. Returns what was asked for so far.
  std::string trouble(const std::string& json) const;
  /// How many requests of a kind there were: `PUT object uploadId`.
  int requests(const std::string& kind) const;

 private:
  Process process_;
  int port_ = 0;
};

/// `s3rver`, which checks signatures in its own way and does not know conditional writes.
class S3Rver {
 public:
  S3Rver();
  /// With its own keys, which are in a file.
  std::string address(const std::string& folder) const;

 private:
  TempStore folder_;
  Process process_;
  int port_ = 0;
};

Azurite& shared_azurite();
S3Front& shared_s3_front();

}  // namespace holdfast::test
