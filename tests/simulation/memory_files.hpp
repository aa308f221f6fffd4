#pragma once

#include <sqlite3.h>

#include <map>
#include <memory>
#include <string>

namespace holdfast::sim {

/// Keeps the databases that are opened during its life in memory, WAL and shared index included, so
/// that a history costs no calls of the kernel for them. Everything above SQLite's idea of a file
/// stays as it is. What a disk forgets is not the question here.
///
/// Locks between connections are those of SQLite, but nobody waits for one: a history is told by
/// one thread.
class MemoryFiles {
 public:
  MemoryFiles();
  ~MemoryFiles();
  MemoryFiles(const MemoryFiles&) = delete;
  MemoryFiles& operator=(const MemoryFiles&) = delete;

  struct Content;
  std::shared_ptr<Content> open(const char* name);
  bool exists(const std::string& name) const { return contents_.contains(name); }
  void remove(const std::string& name) { contents_.erase(name); }

 private:
  std::map<std::string, std::shared_ptr<Content>> contents_;
  std::string name_;
  sqlite3_vfs vfs_;
};

}  // namespace holdfast::sim
