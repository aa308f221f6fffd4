#include "files/store_of_users.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::test {

namespace {

constexpr const char* victims_content = "this must stay\n";

}  // namespace

struct stat status_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status;
}

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<std::string> all_in(const std::string& folder) {
  std::vector<std::string> found{folder};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
    found.push_back(entry.path());
  return found;
}

std::vector<std::string> StoreOfUsers::words(std::vector<std::string> arguments,
                                             Identity who) const {
  std::vector<std::string> all;
  if (who.user != ::geteuid())
    all = {"/usr/bin/setpriv", "--reuid=" + std::to_string(who.user),
           "--regid=" + std::to_string(who.group), "--clear-groups"};
  all.insert(all.end(),
             {"/bin/sh", "-c", "cd " + current_folder_ + " && umask " + umask_ + " && exec \"$@\"",
              "sh", HOLDFAST_PROGRAM, "--store", address_});
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Finished StoreOfUsers::cli(std::vector<std::string> arguments, Identity who) const {
  return run(words(std::move(arguments), who), {}, "a long password\n");
}

std::string StoreOfUsers::ok(std::vector<std::string> arguments, Identity who) const {
  const auto done = cli(std::move(arguments), who);
  EXPECT_TRUE(done.ending.ok()) << "exit " << done.ending.code << "\n" << done.err;
  return done.out;
}

std::string StoreOfUsers::refusal(std::vector<std::string> arguments, Identity who) const {
  const auto done = cli(std::move(arguments), who);
  EXPECT_NE(done.ending.code, 0) << done.out;
  EXPECT_EQ(done.ending.signal, 0) << done.err;
  return done.err;
}

std::string StoreOfUsers::serve_refusal(std::vector<std::string> arguments, Identity who) const {
  arguments.insert(arguments.begin(), {"serve", "--listen", "127.0.0.1:0"});
  Process process{words(std::move(arguments), who)};
  EXPECT_TRUE(eventually([&] { return !process.running() || !process.out().empty(); }));
  EXPECT_EQ(process.out(), "") << "it serves";
  if (!process.out().empty()) process.kill();
  process.wait();
  return process.err();
}

std::string StoreOfUsers::victim() const {
  const auto path = store_.folder() / "victim";
  std::filesystem::remove(path);
  std::ofstream{path} << victims_content;
  EXPECT_EQ(::chmod(path.c_str(), 0644), 0);
  return path;
}

void StoreOfUsers::expect_untouched(const std::string& victim) const {
  EXPECT_EQ(content_of(victim), victims_content) << victim;
  EXPECT_EQ(status_of(victim).st_mode & 0777u, 0644u) << victim;
}

}  // namespace holdfast::test
