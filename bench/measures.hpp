#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <holdfast/settings.hpp>

#include "figures.hpp"

namespace holdfast::bench {

struct Plan {
  std::filesystem::path folder{"/var/tmp"};  ///< where stores are made: a disk, not memory
  Durability durability = Durability::power_safe;
  bool quick = false;  ///< shows that everything works; the numbers mean little
};

/// Each group of measures, in the order of the table. All clean up after themselves.
std::vector<Figure> measure_enqueue(const Plan& plan);
std::vector<Figure> measure_claim(const Plan& plan);
std::vector<Figure> measure_pick_up(const Plan& plan);
std::vector<Figure> measure_idle(const Plan& plan);
std::vector<Figure> measure_memory(const Plan& plan);
std::vector<Figure> measure_kills(const Plan& plan);
std::vector<Figure> measure_recovery(const Plan& plan);
/// These take minutes of the disk.
std::vector<Figure> measure_start_up(const Plan& plan);
std::vector<Figure> measure_retention(const Plan& plan);

/// Raw and ours take turns, because the machine may be faster now than a minute later; what is told
/// is the median of each and the median of the ratios within a round.
struct Rounds {
  std::vector<double> ours, reference;
  void add(double our_rate, double reference_rate) {
    ours.push_back(our_rate);
    reference.push_back(reference_rate);
  }
  Figure figure(std::string id, std::string name, std::string against) const;
};

}  // namespace holdfast::bench
