#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "corruption/judge.hpp"
#include "simulation/dice.hpp"

namespace holdfast::test {
namespace {

constexpr std::size_t page_size = 4096;

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

/// What came of many damages.
struct Tally {
  int harmless = 0, late = 0, halted = 0, held = 0, lost = 0, old_news = 0;
  int notes_changed = 0, notes_lost = 0;
  std::map<std::string, int> repairs{};

  void add(const Judgement& one) {
    harmless += !one.noticed;
    late += one.seen_late;
    halted += one.halted;
    held += one.held;
    lost += one.lost;
    old_news += one.old_news;
    notes_changed += one.notes_changed;
    notes_lost += one.notes_lost;
    for (const auto& how : one.repairs) ++repairs[how.find(' ') == how.npos ? how : "halted"];
  }
  std::string text() const {
    auto line = fmt::format(
        "unseen {} seen late {} halted {} tasks held {} lost {} finished changed {}"
        " notes changed {} lost {}",
        harmless, late, halted, held, lost, old_news, notes_changed, notes_lost);
    for (const auto& [how, times] : repairs) line += fmt::format("\n  {} x {}", times, how);
    return line + "\n";
  }
};

/// Each damage is drawn from a seed: `HOLDFAST_DAMAGE_SEED=n` does that one only,
/// `HOLDFAST_DAMAGES=n` so many, from seed 1 on. With `HOLDFAST_KEEP` the last one's files stay.
class Corruption : public testing::Test {
 protected:
  using Harm = std::function<std::string(Image&, sim::Dice&)>;

  Corruption() {
    folder_ = fmt::format("{}/holdfast-corruption-{}",
                          std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp", ::getpid());
  }
  ~Corruption() override {
    if (!std::getenv("HOLDFAST_KEEP")) std::filesystem::remove_all(folder_);
  }

  Tally damage(const Specimen& specimen, int times, const Harm& harm) {
    Tally tally;
    int only = number_from("HOLDFAST_DAMAGE_SEED", 0);
    int last = only ? only : number_from("HOLDFAST_DAMAGES", times);
    for (int seed = only ? only : 1; seed <= last; ++seed) {
      sim::Dice dice{static_cast<std::uint64_t>(seed)};
      auto image = specimen.image;
      auto what = harm(image, dice);
      auto judgement = judge(specimen, lay_out(image, folder_));
      tally.add(judgement);
      if (judgement.halted && tally.halted <= 3)
        std::printf("halted by seed %d: %s\n", seed, judgement.repairs.back().c_str());
      EXPECT_THAT(judgement.faults, testing::IsEmpty())
          << "HOLDFAST_DAMAGE_SEED=" << seed << ": " << what << "\n"
          << fmt::format("{}", fmt::join(judgement.repairs, ", "));
      if (only) std::printf("%s\n%s", what.c_str(), judgement.told.c_str());
      if (HasFailure() && number_from("HOLDFAST_DAMAGE_STOP", 1)) break;
    }
    std::printf("%s", tally.text().c_str());
    return tally;
  }

  std::string folder_;
};

std::size_t anywhere(const std::vector<std::uint8_t>& bytes, sim::Dice& dice) {
  return static_cast<std::size_t>(dice.next() % bytes.size());
}

std::string flip(std::vector<std::uint8_t>& bytes, sim::Dice& dice) {
  auto at = anywhere(bytes, dice);
  auto bit = dice.below(8);
  bytes[at] ^= static_cast<std::uint8_t>(1 << bit);
  return fmt::format("bit {} of byte {} (page {}, {})", bit, at, at / page_size + 1,
                     at % page_size);
}

TEST_F(Corruption, NothingIsSaidAboutASoundStore) {
  for (bool with_log : {false, true}) {
    auto specimen = make_specimen(with_log);
    EXPECT_EQ(specimen.image.log.empty(), !with_log);
    auto judgement = judge(specimen, lay_out(specimen.image, folder_));
    EXPECT_THAT(judgement.faults, testing::IsEmpty());
    EXPECT_FALSE(judgement.noticed);
  }
}

TEST_F(Corruption, OneBitInTheDatabase) {
  auto tally = damage(make_specimen(false), 600,
                      [](Image& image, sim::Dice& dice) { return flip(image.database, dice); });
  EXPECT_EQ(tally.halted, 0);
}

TEST_F(Corruption, APageOfZeros) {
  damage(make_specimen(false), 100, [](Image& image, sim::Dice& dice) {
    auto page = anywhere(image.database, dice) / page_size;
    std::fill_n(image.database.begin() + static_cast<std::ptrdiff_t>(page * page_size), page_size,
                std::uint8_t{0});
    return fmt::format("page {}", page + 1);
  });
}

TEST_F(Corruption, AFileThatWasCutOff) {
  damage(make_specimen(false), 100, [](Image& image, sim::Dice& dice) {
    image.database.resize(anywhere(image.database, dice));
    return fmt::format("{} bytes left", image.database.size());
  });
}

TEST_F(Corruption, OneBitInTheLog) {
  auto tally = damage(make_specimen(true), 300,
                      [](Image& image, sim::Dice& dice) { return flip(image.log, dice); });
  // Rarely two bits are equally likely to have been the one.
  EXPECT_LE(tally.halted, 3);
  EXPECT_EQ(tally.lost, 0);
}

TEST_F(Corruption, SeveralBytesInTheLog) {
  damage(make_specimen(true), 60, [](Image& image, sim::Dice& dice) {
    auto at = anywhere(image.log, dice);
    for (auto i = at; i < std::min(at + 16, image.log.size()); ++i)
      image.log[i] = static_cast<std::uint8_t>(dice.next());
    return fmt::format("16 bytes of the log from {}", at);
  });
}

TEST_F(Corruption, AnOldLog) {
  auto specimen = make_specimen(true);
  damage(specimen, 1, [&](Image& image, sim::Dice&) {
    image.log = specimen.older.log;
    return std::string{"the log of some commits before"};
  });
}

}  // namespace
}  // namespace holdfast::test
