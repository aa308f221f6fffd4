#include "engines/sqlite/page_file.hpp"

#include <algorithm>
#include <bit>

#include "engines/sqlite/page_bytes.hpp"

namespace holdfast::sqlite {

namespace {

constexpr std::uint32_t file_header = 100;  // the first page begins with it
constexpr std::size_t longest_record = 1'000'000'000;

/// How much of a payload is on the page itself. The rest is on overflow pages.
std::uint64_t local_size(std::uint64_t length, std::uint32_t usable, bool table) {
  std::uint64_t most = table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  if (length <= most) return length;
  std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  std::uint64_t rest = least + (length - least) % (usable - 4);
  return rest <= most ? rest : least;
}

}  // namespace

PageFile::PageFile(Bytes bytes) : bytes_{bytes} { choose_sizes(); }

/// The header says how large pages are, but one flipped bit there must not cost the whole file: of
/// the sizes that can be, the one under which most pages look like pages is taken.
void PageFile::choose_sizes() {
  std::uint32_t said = 0, reserved = 0;
  if (bytes_.size() >= file_header) {
    said = read_u16(bytes_, 16);
    if (said == 1) said = 65'536;
    reserved = bytes_[20];
  }
  auto set = [&](std::uint32_t size, std::uint32_t unused) {
    page_size_ = size;
    usable_ = size - unused;
    pages_ = static_cast<std::uint32_t>(
        std::min<std::size_t>(bytes_.size() / size, std::uint32_t{0xfffffffe}));
  };
  bool possible = said >= 512 && said <= 65'536 && std::has_single_bit(said);
  if (possible && reserved == 0) return set(said, 0);

  // The beginning of a page is plausible as that of a larger page, too: so the smallest size under
  // which about as much of the file makes sense as under any other.
  struct Choice {
    std::uint32_t size = 4096, unused = 0;
    int score = 0;
  };
  std::vector<Choice> choices;
  int best = 0;
  for (std::uint32_t size = possible ? said : 512; size <= (possible ? said : 65'536); size *= 2) {
    for (std::uint32_t unused : {std::uint32_t{0}, reserved}) {
      if (size < unused + 480) continue;
      set(size, unused);
      choices.push_back({size, unused, plausible_pages() * static_cast<int>(size / 512)});
      best = std::max(best, choices.back().score);
    }
  }
  auto good = std::ranges::find_if(
      choices, [&](const Choice& one) { return one.score > 0 && one.score * 10 >= best * 7; });
  auto choice = good == choices.end() ? Choice{} : *good;
  set(choice.size, choice.unused);
}

int PageFile::plausible_pages() const {
  // The same stretch of the file for every size.
  auto last =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes_.size(), 4 << 20) / page_size_);
  int plausible = 0;
  for (std::uint32_t number = 1; number <= last; ++number) {
    auto page = tree_page(number);
    if (!page || !page->sound || page->cells.empty()) continue;
    auto whole = [&](std::uint16_t at) { return cell(number, *page, at).has_value(); };
    plausible += std::ranges::all_of(page->cells, whole);
  }
  return plausible;
}

Bytes PageFile::page(std::uint32_t number) const {
  if (number == 0 || number > pages_) return {};
  return bytes_.subspan(std::size_t{number - 1} * page_size_, page_size_);
}

std::optional<TreePage> PageFile::tree_page(std::uint32_t number) const {
  auto bytes = page(number);
  if (bytes.empty()) return {};
  std::size_t header = number == 1 ? file_header : 0;
  TreePage found;
  switch (bytes[header]) {
    case 2:
    case 5:
    case 10:
    case 13:
      found.kind = static_cast<TreePage::Kind>(bytes[header]);
      break;
    default:
      return {};
  }
  std::size_t pointers = header + (found.is_leaf() ? 8 : 12);
  if (!found.is_leaf()) found.right_child = read_u32(bytes, header + 8);
  std::size_t count = read_u16(bytes, header + 3);
  if (pointers + 2 * count > usable_) {
    found.sound = false;
    count = (usable_ - pointers) / 2;
  }
  std::size_t content = pointers + 2 * count;
  for (std::size_t i = 0; i < count; ++i) {
    auto at = read_u16(bytes, pointers + 2 * i);
    if (at >= content && at + 4u <= usable_)
      found.cells.push_back(at);
    else
      found.sound = false;
  }
  return found;
}

std::optional<Cell> PageFile::cell(std::uint32_t number, const TreePage& in,
                                   std::uint16_t begin) const {
  return cell_in(page(number), in, begin);
}

std::optional<Cell> PageFile::cell_in(Bytes page_bytes, const TreePage& in,
                                      std::uint16_t begin) const {
  auto bytes = page_bytes.first(usable_);
  Cell cell;
  std::size_t at = begin;
  if (!in.is_leaf()) {
    if (at + 4 > bytes.size()) return {};
    cell.child = read_u32(bytes, at);
    at += 4;
  }
  std::optional<std::uint64_t> length{0};
  if (in.kind != TreePage::Kind::inner_table) length = read_varint(bytes, at);
  if (!length) return {};
  if (in.is_table()) {
    auto rowid = read_varint(bytes, at);
    if (!rowid) return {};
    cell.rowid = static_cast<std::int64_t>(*rowid);
  }
  if (in.kind == TreePage::Kind::inner_table) return cell;
  if (!read_payload(bytes, at, *length, in.is_table(), cell)) return {};
  return cell;
}

bool PageFile::read_payload(Bytes page, std::size_t at, std::uint64_t length, bool table,
                            Cell& into) const {
  if (length > longest_record || length > bytes_.size()) return false;
  auto local = local_size(length, usable_, table);
  if (at + local > page.size()) return false;
  auto here = page.subspan(at, local);
  into.payload.assign(here.begin(), here.end());
  if (local == length) return true;
  if (at + local + 4 > page.size()) return false;
  return read_overflow(read_u32(page, at + local), length - local, into);
}

bool PageFile::read_overflow(std::uint32_t first, std::uint64_t length, Cell& into) const {
  std::uint32_t next = first;
  while (length > 0) {
    auto bytes = page(next);
    if (bytes.empty() || into.overflow.size() >= pages_) return false;
    into.overflow.push_back(next);
    auto part = bytes.subspan(4, std::min<std::uint64_t>(length, usable_ - 4));
    into.payload.insert(into.payload.end(), part.begin(), part.end());
    length -= part.size();
    next = read_u32(bytes, 0);
  }
  // A chain that goes on is somebody else's.
  return next == 0;
}

PageFile::FreeList PageFile::free_list() const {
  FreeList list;
  if (pages_ == 0 || bytes_.size() < file_header) return {{}, false};
  std::size_t said = read_u32(bytes_, 36);
  std::vector<bool> seen(pages_ + 1, false);
  auto add = [&](std::uint32_t number) {
    bool fine = number > 1 && number <= pages_ && !seen[number];
    if (fine) {
      seen[number] = true;
      list.pages.push_back(number);
    } else {
      list.sound = false;
    }
    return fine;
  };
  for (auto trunk = read_u32(bytes_, 32); trunk != 0;) {
    if (!add(trunk)) break;
    auto bytes = page(trunk);
    std::size_t leaves = read_u32(bytes, 4);
    if (leaves > usable_ / 4 - 2) {
      list.sound = false;
      break;
    }
    for (std::size_t i = 0; i < leaves; ++i) add(read_u32(bytes, 8 + 4 * i));
    trunk = read_u32(bytes, 0);
  }
  list.sound = list.sound && list.pages.size() == said;
  return list;
}

}  // namespace holdfast::sqlite
