#include "engines/sqlite/file_system.hpp"

#include <sys/statfs.h>

namespace holdfast::sqlite {

std::string unsuitable_file_system(const std::string& path) {
  struct statfs info {};
  if (::statfs(path.c_str(), &info) != 0) return {};
  switch (static_cast<unsigned long>(info.f_type) & 0xffffffff) {
    case 0x6969:
      return "NFS";
    case 0x517b:
    case 0xff534d42:
    case 0xfe534d42:
      return "a Windows share";
    case 0x01021997:
      return "9p";
    case 0x5346414f:
      return "AFS";
    case 0x00c36400:
      return "Ceph";
    case 0x0bd00bd0:
      return "Lustre";
    default:
      return {};
  }
}

}  // namespace holdfast::sqlite
