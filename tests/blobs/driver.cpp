#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <holdfast/blobs.hpp>

using namespace holdfast;

namespace {

void limit_files(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) std::abort();
}

std::string call(BlobStore& blobs, const std::string& verb, const std::string& key,
                 const std::string& content) {
  if (verb == "put") return blobs.put(key, content) ? "new" : "there";
  if (verb == "get") return blobs.get(key).value_or("none");
  if (verb == "remove") return blobs.remove(key) ? "removed" : "none";
  if (verb == "list") return std::to_string(blobs.list(key).size());
  return "which verb?";
}

}  // namespace

/// One call of a store of blobs, for tests that kill or stop it: `VERB ADDRESS KEY [CONTENT]`. With
/// LARGEST_FILE in the environment, no file becomes larger than so many bytes.
int main(int count, char** words) {
  if (count < 4) return 2;
  const char* largest = std::getenv("LARGEST_FILE");
  std::string said;
  int code = 0;
  try {
    auto blobs = open_blobs(words[2]);
    if (largest) limit_files(std::strtoul(largest, nullptr, 10));
    said = call(*blobs, words[1], words[3], count > 4 ? words[4] : "");
  } catch (const BlobError& error) {
    said = error.what();
    code = 1;
  }
  limit_files(RLIM_INFINITY);
  std::fputs(said.c_str(), code == 0 ? stdout : stderr);
  return code;
}
