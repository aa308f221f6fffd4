#include "recovery/board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/fatal_signals.hpp"

namespace holdfast {

namespace {

constexpr char magic[8] = {'h', 'f', 'b', 'o', 'a', 'r', 'd', '\n'};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t most_slots = 16'384;
constexpr std::uint32_t all_elsewhere = 2;

struct alignas(64) Header {
  char magic[8];
  std::uint32_t version;
  std::int32_t pid;
  std::uint32_t slots;
  /// 1: work that is not on this board runs, too. 2: what is on it runs in another process.
  std::atomic<std::uint32_t> others;
  std::uint64_t oom_kills;  ///< on this host, before the worker started
  LastMoment last_moment;
};

/// A cache line each, because each is written by a thread of its own for every task.
struct alignas(64) Slot {
  std::atomic<std::uint32_t> occupied;
  std::uint32_t unused;
  std::int64_t token;
  std::uint8_t task[16];
};
static_assert(sizeof(Header) == 64 && sizeof(Slot) == 64);

std::size_t board_bytes(std::uint32_t slots) { return sizeof(Header) + slots * sizeof(Slot); }

[[noreturn]] void throw_board_error(const std::string& path, int error) {
  throw StoreError{
      fmt::format("cannot create the worker's file {}: {}", path, std::strerror(error))};
}

}  // namespace

struct Board::Page {
  Header header;
  std::span<Slot> slots() { return {reinterpret_cast<Slot*>(this + 1), header.slots}; }
};

Board::Board(const HostFiles& files, WorkerId id, int slots, std::uint64_t oom_kills_before,
             bool remote)
    : remote_{remote} {
  auto path = files.worker(id);
  auto hidden = files.workers() + "/.new-" + id.text();
  auto count = std::min(static_cast<std::uint32_t>(std::max(slots, 1)), most_slots);
  bytes_ = board_bytes(count);
  file_ = open_private(hidden, O_RDWR | O_CREAT | O_EXCL);
  // Reserved, not just sized: writing to a hole of a mapped file on a full disk kills the process.
  if (int error = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes_))) {
    ::unlink(hidden.c_str());
    throw_board_error(path, error);
  }
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) throw_board_error(path, errno);
  page_ = static_cast<Page*>(memory);
  auto& header = page_->header;
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = version;
  header.pid = ::getpid();
  header.slots = count;
  header.oom_kills = oom_kills_before;
  header.last_moment.slot = -1;
  if (remote) header.others = all_elsewhere;
  lock(file_.get());
  if (::rename(hidden.c_str(), path.c_str()) != 0) throw_board_error(path, errno);
  keep_last_moment(&header.last_moment);
}

Board::~Board() {
  if (!page_) return;
  forget_last_moment(&page_->header.last_moment);
  ::munmap(page_, bytes_);
}

void Board::started(int slot, const Lease& lease) {
  auto& place = page_->slots()[static_cast<std::size_t>(slot)];
  place.token = lease.token.value;
  std::memcpy(place.task, lease.id.bytes.data(), sizeof place.task);
  place.occupied.store(1, std::memory_order_release);
  if (!remote_) enter_handler(&page_->header.last_moment, slot);
}

void Board::finished(int slot) {
  if (!remote_) enter_handler(nullptr, -1);
  page_->slots()[static_cast<std::size_t>(slot)].occupied.store(0, std::memory_order_release);
}

void Board::not_alone(bool others) {
  page_->header.others.store(others, std::memory_order_release);
}

namespace {

/// The dead worker's bytes, copied, so that nothing of them can change or fault under us.
std::string read_all(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  auto bytes = std::min(static_cast<std::size_t>(info.st_size), board_bytes(most_slots));
  std::string content(bytes, '\0');
  auto got = ::pread(file.get(), content.data(), content.size(), 0);
  content.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return content;
}

template <class T>
T field(const std::string& content, std::size_t offset) {
  T value{};
  std::memcpy(&value, content.data() + offset, sizeof value);
  return value;
}

std::string death_by_signal(const std::string& content, const std::vector<std::string>& by_slot) {
  auto last = offsetof(Header, last_moment);
  auto signal = field<std::int32_t>(content, last + offsetof(LastMoment, signal));
  auto slot = field<std::int32_t>(content, last + offsetof(LastMoment, slot));
  const char* name = signal > 0 ? ::sigdescr_np(signal) : nullptr;
  if (!name) return {};
  auto text = fmt::format("ended by signal {} ({})", signal, name);
  if (slot < 0) return text;
  text += " in a handler";
  auto at = static_cast<std::size_t>(slot);
  if (at < by_slot.size() && !by_slot[at].empty()) text += " (task " + by_slot[at] + ")";
  return text;
}

std::string death_by_memory(const std::string& content, std::uint64_t now) {
  auto before = field<std::uint64_t>(content, offsetof(Header, oom_kills));
  if (now <= before) return {};
  return fmt::format(
      "the kernel's out-of-memory killer struck {} time{} on this host since the worker's process "
      "opened the store",
      now - before, now - before == 1 ? "" : "s");
}

}  // namespace

Remains read_board(const std::string& path, std::uint64_t oom_kills_now) {
  auto content = read_all(path);
  if (content.size() < sizeof(Header) || std::memcmp(content.data(), magic, sizeof magic) != 0 ||
      field<std::uint32_t>(content, offsetof(Header, version)) != version)
    return {};
  auto slots = field<std::uint32_t>(content, offsetof(Header, slots));
  if (slots == 0 || slots > most_slots || content.size() < board_bytes(slots)) return {};

  Remains remains;
  remains.readable = true;
  std::vector<std::string> by_slot(slots);
  for (std::uint32_t i = 0; i < slots; ++i) {
    auto at = board_bytes(i);
    if (field<std::uint32_t>(content, at + offsetof(Slot, occupied)) == 0) continue;
    Lease lease{{field<std::array<std::uint8_t, 16>>(content, at + offsetof(Slot, task))},
                {field<std::int64_t>(content, at + offsetof(Slot, token))}};
    by_slot[i] = lease.id.text();
    remains.running.push_back(lease);
  }
  const auto others = field<std::uint32_t>(content, offsetof(Header, others));
  // Nobody knows what it is, but it may have been to blame.
  if (others != 0) remains.running.push_back(others == all_elsewhere ? runs_elsewhere : Lease{});
  remains.evidence = death_by_signal(content, by_slot);
  if (remains.evidence.empty()) remains.evidence = death_by_memory(content, oom_kills_now);
  return remains;
}

}  // namespace holdfast
