#include "simulation/memory_files.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <vector>

#include <fmt/format.h>

namespace holdfast::sim {

struct MemoryFiles::Content {
  std::string bytes;
  std::vector<std::unique_ptr<char[]>> index;  // what SQLite shares between connections
  std::array<int, SQLITE_SHM_NLOCK> index_locks{};
  int locks = 0;           // handles that hold any
  bool promised = false;   // one of them will write
  bool exclusive = false;  // one of them is alone
};

namespace {

constexpr int taken_alone = -1;

struct Handle {
  sqlite3_file base;
  std::shared_ptr<MemoryFiles::Content> content;
  int level;
};

Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
MemoryFiles::Content& content(sqlite3_file* file) { return *handle(file).content; }
MemoryFiles& files(sqlite3_vfs* vfs) { return *static_cast<MemoryFiles*>(vfs->pAppData); }

int close(sqlite3_file* file) {
  std::destroy_at(&handle(file));
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
  const auto& bytes = content(file).bytes;
  auto from = static_cast<std::size_t>(offset);
  auto wanted = static_cast<std::size_t>(count);
  auto there = from < bytes.size() ? std::min(wanted, bytes.size() - from) : 0;
  std::memcpy(into, bytes.data() + from, there);
  if (there == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + there, 0, wanted - there);
  return SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  auto& bytes = content(file).bytes;
  auto at = static_cast<std::size_t>(offset);
  auto length = static_cast<std::size_t>(count);
  if (bytes.size() < at + length) bytes.resize(at + length);
  std::memcpy(bytes.data() + at, from, length);
  return SQLITE_OK;
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  content(file).bytes.resize(static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int sync(sqlite3_file*, int) { return SQLITE_OK; }

int size(sqlite3_file* file, sqlite3_int64* bytes) {
  *bytes = static_cast<sqlite3_int64>(content(file).bytes.size());
  return SQLITE_OK;
}

int lock(sqlite3_file* file, int level) {
  auto& self = handle(file);
  auto& all = *self.content;
  if (level <= self.level) return SQLITE_OK;
  bool own_promise = self.level >= SQLITE_LOCK_RESERVED;
  if (all.exclusive || (level >= SQLITE_LOCK_RESERVED && all.promised && !own_promise))
    return SQLITE_BUSY;
  if (level == SQLITE_LOCK_EXCLUSIVE && all.locks > 1) return SQLITE_BUSY;
  if (self.level == SQLITE_LOCK_NONE) ++all.locks;
  if (level >= SQLITE_LOCK_RESERVED) all.promised = true;
  if (level == SQLITE_LOCK_EXCLUSIVE) all.exclusive = true;
  self.level = level;
  return SQLITE_OK;
}

int unlock(sqlite3_file* file, int level) {
  auto& self = handle(file);
  auto& all = *self.content;
  if (level >= self.level) return SQLITE_OK;
  if (self.level >= SQLITE_LOCK_RESERVED) all.promised = all.exclusive = false;
  if (level == SQLITE_LOCK_NONE) --all.locks;
  self.level = level;
  return SQLITE_OK;
}

int is_promised(sqlite3_file* file, int* promised) {
  *promised = content(file).promised;
  return SQLITE_OK;
}

int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 512; }
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int map_index(sqlite3_file* file, int region, int bytes, int extend, void volatile** at) {
  auto& index = content(file).index;
  auto wanted = static_cast<std::size_t>(region);
  while (extend && index.size() <= wanted)
    index.push_back(std::make_unique<char[]>(static_cast<std::size_t>(bytes)));
  *at = wanted < index.size() ? index[wanted].get() : nullptr;
  return SQLITE_OK;
}

int lock_index(sqlite3_file* file, int first, int count, int flags) {
  auto& locks = content(file).index_locks;
  auto begin = locks.begin() + first;
  auto end = begin + count;
  bool alone = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    std::for_each(begin, end, [&](int& one) { one = alone ? 0 : one - 1; });
    return SQLITE_OK;
  }
  if (std::any_of(begin, end, [&](int one) { return alone ? one != 0 : one == taken_alone; }))
    return SQLITE_BUSY;
  std::for_each(begin, end, [&](int& one) { one = alone ? taken_alone : one + 1; });
  return SQLITE_OK;
}

void barrier(sqlite3_file*) {}

int unmap_index(sqlite3_file* file, int remove) {
  if (remove) content(file).index.clear();
  return SQLITE_OK;
}

constexpr sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = is_promised,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_index,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* done) {
  new (file) Handle{{&methods}, files(vfs).open(name), SQLITE_LOCK_NONE};
  if (done) *done = flags;
  return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* name, int) {
  files(vfs).remove(name);
  return SQLITE_OK;
}

int exists(sqlite3_vfs* vfs, const char* name, int, int* found) {
  *found = files(vfs).exists(name);
  return SQLITE_OK;
}

int full_name(sqlite3_vfs*, const char* name, int room, char* full) {
  sqlite3_snprintf(room, full, "%s", name);
  return SQLITE_OK;
}

/// One thread needs no locks in memory, and nobody asks how much of it is in use. Too late, and
/// nothing lost, if SQLite is in use already.
void spare_sqlite_what_threads_need() {
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

}  // namespace

MemoryFiles::MemoryFiles()
    : name_{fmt::format("memory-{}", static_cast<const void*>(this))},
      vfs_{(spare_sqlite_what_threads_need(), *sqlite3_vfs_find("unix"))} {
  vfs_.szOsFile = sizeof(Handle);
  vfs_.pNext = nullptr;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = sim::open;
  vfs_.xDelete = sim::remove;
  vfs_.xAccess = sim::exists;
  vfs_.xFullPathname = full_name;
  sqlite3_vfs_register(&vfs_, 1);
}

MemoryFiles::~MemoryFiles() { sqlite3_vfs_unregister(&vfs_); }

std::shared_ptr<MemoryFiles::Content> MemoryFiles::open(const char* name) {
  if (!name) return std::make_shared<Content>();
  auto& known = contents_[name];
  if (!known) known = std::make_shared<Content>();
  return known;
}

}  // namespace holdfast::sim
