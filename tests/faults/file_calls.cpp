#include "faults/file_calls.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <stdexcept>

namespace holdfast::test {

namespace {

/// An open file of ours; the real one is in the memory behind it.
struct File {
  sqlite3_file base;
  std::string* name;
  bool sync_folder;  ///< with its first sync the folder is synced, too
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& ours(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return ours(file).real(); }
const std::string& name(sqlite3_file* file) { return *ours(file).name; }
sqlite3_vfs* real_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

/// For all threads; replaced as a whole, because others may be calling the old one.
std::atomic<std::shared_ptr<FaultChooser>> chooser_for_all;
thread_local FaultChooser chooser;
thread_local ChangeListener listener;
sqlite3_mem_methods real_memory;

std::optional<Fault> fault_of(Call call, std::string_view file) {
  auto for_all = chooser_for_all.load();
  if (for_all && *for_all) return (*for_all)(call, file);
  return chooser ? chooser(call, file) : std::nullopt;
}

void changed(Change change) {
  if (listener) listener(std::move(change));
}

std::string last_part(const char* path) {
  std::string whole{path ? path : ""};
  auto slash = whole.rfind('/');
  return slash == std::string::npos ? whole : whole.substr(slash + 1);
}

/// SQLite asks for `errno` when it wants to know why.
int failed(const Fault& fault, int code) {
  errno = fault.error;
  return code;
}

int close_file(sqlite3_file* file) {
  int code = real(file)->pMethods->xClose(real(file));
  delete ours(file).name;
  return code;
}

int read_file(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
  if (auto fault = fault_of(Call::read, name(file))) return failed(*fault, SQLITE_IOERR_READ);
  return real(file)->pMethods->xRead(real(file), into, bytes, offset);
}

int write_part(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  int code = real(file)->pMethods->xWrite(real(file), data, bytes, offset);
  if (code == SQLITE_OK) {
    std::string copy{static_cast<const char*>(data), static_cast<std::size_t>(bytes)};
    changed({Change::Kind::write, name(file), offset, std::move(copy)});
  }
  return code;
}

int write_file(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  auto fault = fault_of(Call::write, name(file));
  if (!fault) return write_part(file, data, bytes, offset);
  if (fault->half) write_part(file, data, bytes / 2, offset);
  return failed(*fault, fault->error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 bytes) {
  if (auto fault = fault_of(Call::truncate, name(file)))
    return failed(*fault, SQLITE_IOERR_TRUNCATE);
  int code = real(file)->pMethods->xTruncate(real(file), bytes);
  if (code == SQLITE_OK) changed({Change::Kind::truncate, name(file), bytes, {}});
  return code;
}

int sync_file(sqlite3_file* file, int) {
  if (auto fault = fault_of(Call::sync, name(file))) return failed(*fault, SQLITE_IOERR_FSYNC);
  changed({Change::Kind::sync, name(file), 0, {}});
  if (ours(file).sync_folder) changed({Change::Kind::sync_folder, {}, 0, {}});
  ours(file).sync_folder = false;
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* bytes) {
  if (auto fault = fault_of(Call::size, name(file))) return failed(*fault, SQLITE_IOERR_FSTAT);
  return real(file)->pMethods->xFileSize(real(file), bytes);
}

int lock_file(sqlite3_file* file, int level) {
  if (auto fault = fault_of(Call::lock, name(file))) return failed(*fault, SQLITE_IOERR_LOCK);
  return real(file)->pMethods->xLock(real(file), level);
}

int unlock_file(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

int check_reserved(sqlite3_file* file, int* result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

int file_control(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }

int device_characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

int shm_map(sqlite3_file* file, int region, int bytes, int extend, void volatile** memory) {
  if (auto fault = fault_of(Call::share, name(file)))
    return failed(*fault, fault->error == ENOSPC ? SQLITE_IOERR_SHMSIZE : SQLITE_IOERR_SHMMAP);
  return real(file)->pMethods->xShmMap(real(file), region, bytes, extend, memory);
}

int shm_lock(sqlite3_file* file, int first, int count, int flags) {
  bool takes = (flags & SQLITE_SHM_LOCK) != 0;
  auto fault = takes ? fault_of(Call::lock_shared, name(file)) : std::nullopt;
  if (fault) return failed(*fault, SQLITE_IOERR_SHMLOCK);
  return real(file)->pMethods->xShmLock(real(file), first, count, flags);
}

void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }

int shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

/// The second version: without reading through mapped memory, which we could not see.
const sqlite3_io_methods methods{2,
                                 close_file,
                                 read_file,
                                 write_file,
                                 truncate_file,
                                 sync_file,
                                 file_size,
                                 lock_file,
                                 unlock_file,
                                 check_reserved,
                                 file_control,
                                 sector_size,
                                 device_characteristics,
                                 shm_map,
                                 shm_lock,
                                 shm_barrier,
                                 shm_unmap,
                                 nullptr,
                                 nullptr};

/// SQLite's own way to look takes an empty file for none. A database is created empty, with the
/// mode that it is to have, just before SQLite opens it.
bool is_new_name(const char* path, int flags) {
  constexpr int database = SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB;
  struct stat info {};
  if (!path) return false;
  if (::stat(path, &info) != 0) return true;
  return (flags & database) == database && info.st_size == 0;
}

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* got) {
  file->pMethods = nullptr;
  auto short_name = last_part(path);
  if (auto fault = fault_of(Call::open, short_name)) return failed(*fault, SQLITE_CANTOPEN);
  bool is_new = is_new_name(path, flags);
  int code = real_vfs(vfs)->xOpen(real_vfs(vfs), path, real(file), flags, got);
  if (code != SQLITE_OK) return code;
  // As the real one does: whoever opens a log that need not be there syncs its name, too.
  constexpr int logs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  ours(file).sync_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & logs) != 0;
  ours(file).name = new std::string{short_name};
  file->pMethods = &methods;
  if (is_new) changed({Change::Kind::create, short_name, 0, {}});
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  auto short_name = last_part(path);
  if (auto fault = fault_of(Call::remove, short_name)) return failed(*fault, SQLITE_IOERR_DELETE);
  int code = real_vfs(vfs)->xDelete(real_vfs(vfs), path, 0);
  if (code != SQLITE_OK) return code;
  changed({Change::Kind::remove, short_name, 0, {}});
  if (sync_folder) changed({Change::Kind::sync_folder, {}, 0, {}});
  return SQLITE_OK;
}

int look_for_file(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  if (auto fault = fault_of(Call::exists, last_part(path)))
    return failed(*fault, SQLITE_IOERR_ACCESS);
  return real_vfs(vfs)->xAccess(real_vfs(vfs), path, flags, result);
}

int why(sqlite3_vfs*, int, char*) { return errno; }

/// A copy of the real one, with our functions where files are touched. The others get a pointer to
/// the copy, which they do not look at.
sqlite3_vfs faulty_vfs(sqlite3_vfs* real_one) {
  sqlite3_vfs vfs = *real_one;
  vfs.zName = "faulty";
  vfs.pNext = nullptr;
  vfs.pAppData = real_one;
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real_one->szOsFile;
  vfs.xOpen = open_file;
  vfs.xDelete = remove_file;
  vfs.xAccess = look_for_file;
  vfs.xGetLastError = why;
  return vfs;
}

}  // namespace

std::string_view to_string(Call call) {
  constexpr std::string_view names[] = {"open",
                                        "read",
                                        "write",
                                        "truncate",
                                        "sync",
                                        "size",
                                        "lock",
                                        "exists",
                                        "remove",
                                        "share",
                                        "lock in the index of the WAL",
                                        "allocation"};
  return names[static_cast<std::size_t>(call)];
}

void intercept_file_calls() {
  static sqlite3_vfs vfs = faulty_vfs(sqlite3_vfs_find("unix"));
  if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
    throw std::runtime_error{"SQLite does not take our file system"};
}

Faults::Faults(FaultChooser chosen) {
  intercept_file_calls();
  chooser = std::move(chosen);
}
Faults::~Faults() { chooser = {}; }

void intercept_allocations() {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK)
    throw std::runtime_error{"SQLite was used before its memory could be watched"};
  auto memory = real_memory;
  memory.xMalloc = [](int bytes) -> void* {
    return fault_of(Call::allocate, {}) ? nullptr : real_memory.xMalloc(bytes);
  };
  memory.xRealloc = [](void* old, int bytes) -> void* {
    return fault_of(Call::allocate, {}) ? nullptr : real_memory.xRealloc(old, bytes);
  };
  sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}

void fail_everywhere(FaultChooser chosen) {
  chooser_for_all = std::make_shared<FaultChooser>(std::move(chosen));
}

Listening::Listening(ChangeListener chosen) {
  intercept_file_calls();
  listener = std::move(chosen);
}
Listening::~Listening() { listener = {}; }

}  // namespace holdfast::test
