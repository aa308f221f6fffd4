#include "faults/power_cut.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace holdfast::test {

namespace {

constexpr std::size_t sector = 512;

void put(std::string& content, std::size_t offset, std::string_view data) {
  if (content.size() < offset + data.size()) content.resize(offset + data.size(), '\0');
  content.replace(offset, data.size(), data);
}

void apply_to(std::string& content, const Change& change) {
  auto offset = static_cast<std::size_t>(change.offset);
  if (change.kind == Change::Kind::truncate)
    content.resize(offset, '\0');
  else
    put(content, offset, change.data);
}

/// The sectors of a write are kept or not, each by itself.
void apply_torn(std::string& content, const Change& change, sim::Dice& dice, bool garbage) {
  if (change.kind == Change::Kind::truncate) {
    if (dice.percent(50)) apply_to(content, change);
    return;
  }
  auto begin = static_cast<std::size_t>(change.offset), end = begin + change.data.size();
  while (begin < end) {
    auto next = std::min(end, (begin / sector + 1) * sector);
    auto piece = change.data.substr(begin - static_cast<std::size_t>(change.offset), next - begin);
    if (garbage && dice.percent(20))
      for (auto& byte : piece) byte = static_cast<char>(dice.below(256));
    if (dice.percent(50)) put(content, begin, piece);
    begin = next;
  }
}

/// Where the order of writes is cut in two: a number of whole writes.
std::size_t place_in(const std::vector<Change>& waiting, sim::Dice& dice) {
  return static_cast<std::size_t>(dice.below(static_cast<int>(waiting.size()) + 1));
}

std::string cut_short(std::string content, const std::vector<Change>& waiting, Cut cut,
                      sim::Dice& dice) {
  auto place = place_in(waiting, dice);
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto& change = waiting[i];
    bool torn = cut == Cut::torn || cut == Cut::garbage || (cut == Cut::first && i == place);
    bool kept = cut == Cut::everything || (cut == Cut::some && dice.percent(50)) ||
                (cut == Cut::first && i < place) || (cut == Cut::last && i >= place);
    if (torn)
      apply_torn(content, change, dice, cut == Cut::garbage);
    else if (kept)
      apply_to(content, change);
  }
  return content;
}

}  // namespace

std::string_view to_string(Cut cut) {
  constexpr std::string_view names[] = {"everything", "nothing", "some",   "first",
                                        "last",       "torn",    "garbage"};
  return names[static_cast<std::size_t>(cut)];
}

Cut cut_for(int n) {
  constexpr int simple = 2, with_dice = 5;
  return static_cast<Cut>(n < simple ? n : simple + (n - simple) % with_dice);
}

Disk::Disk(const Files& files) {
  for (const auto& [name, content] : files) {
    names_[name] = contents_.size();
    contents_.push_back({content, {}});
  }
  durable_names_ = names_;
}

void Disk::apply(const Change& change) {
  switch (change.kind) {
    case Change::Kind::create:
      names_[change.file] = contents_.size();
      waiting_names_.push_back({change.file, contents_.size()});
      contents_.emplace_back();
      break;
    case Change::Kind::remove:
      names_.erase(change.file);
      waiting_names_.push_back({change.file, {}});
      break;
    case Change::Kind::write:
    case Change::Kind::truncate:
      contents_[content_of(change.file)].waiting.push_back(change);
      break;
    case Change::Kind::sync: {
      auto& content = contents_[content_of(change.file)];
      for (const auto& each : content.waiting) apply_to(content.durable, each);
      content.waiting.clear();
      break;
    }
    case Change::Kind::sync_folder:
      durable_names_ = names_;
      waiting_names_.clear();
      break;
  }
}

Files Disk::after(Cut cut, sim::Dice& dice) const {
  auto names = durable_names_;
  for (const auto& naming : waiting_names_) {
    if (cut == Cut::nothing || (cut != Cut::everything && dice.percent(50))) continue;
    if (naming.content)
      names[naming.name] = *naming.content;
    else
      names.erase(naming.name);
  }
  Files files;
  for (const auto& [name, content] : names)
    files[name] = cut_short(contents_[content].durable, contents_[content].waiting, cut, dice);
  return files;
}

void write_files(const std::string& folder, const Files& files) {
  for (const auto& [name, content] : files) {
    std::ofstream file{folder + "/" + name, std::ios::binary};
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) throw std::runtime_error{"cannot write " + folder + "/" + name};
  }
}

}  // namespace holdfast::test
