#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

/// A host of its own as far as the network is concerned: a network namespace with one cable to this
/// one. Needs root. Gone with the object.
class NetworkHost {
 public:
  NetworkHost();
  ~NetworkHost();
  NetworkHost(const NetworkHost&) = delete;
  NetworkHost& operator=(const NetworkHost&) = delete;

  /// The address at which that host finds this one.
  std::string our_address() const;
  /// The command as it must be started to run there.
  std::vector<std::string> there(const std::vector<std::string>& command) const;

  void pull_the_cable();  ///< nothing gets through, in either direction
  void put_the_cable_back();

 private:
  int number_;
  std::string name_;
};

}  // namespace holdfast::test
