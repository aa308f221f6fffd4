#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sidekiq {

/// The way of a process through one queue, from the oldest job to the newest, a step at a time.
/// Jobs that are for others, or for a host that has no room, are passed and stay where they are. So
/// that no request overtakes another one to its host, a host that was passed once is passed until
/// the walk begins again.
///
/// At the end it stays there, where new jobs are pushed. It goes back for hosts that were passed
/// and have room, to where their jobs are, and on from where it was as soon as they are full again.
/// Others take jobs out of the queue, too, and what it has seen moves; so now and then it begins
/// anew. It rests in proportion to how long that takes, because Redis does nothing else meanwhile.
/// Time is given, so that tests need not wait.
class Walk {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  using Duration = Clock::duration;
  /// What was found from `place` on.
  struct Step {
    std::int64_t passed = 0, taken = 0;
    /// That were passed for want of room, and how many jobs had been passed before.
    std::map<std::string, std::int64_t> hosts{};
    bool at_end = false;
    Duration took{0};
  };

  /// Before each step.
  void begin(const std::function<bool(const std::string& host)>& has_room, Time now);
  std::int64_t place() const { return place_; }  ///< so many of the oldest jobs are behind
  std::vector<std::string> closed() const;       ///< hosts to be passed, whatever room they have
  void stepped(const Step& step, Time now);

  bool at_end() const { return at_end_; }
  /// Whether there are jobs behind it that wait for room at their host.
  bool left_some() const { return !passed_.empty(); }
  /// When it may go back for those, if not now; the earliest time: now.
  Time rests_until() const { return left_some() ? rests_until_ : Time{}; }

 private:
  void go_to_wanted();
  void rest(Time now);

  std::int64_t place_ = 0;
  bool at_end_ = false;
  std::map<std::string, std::int64_t> passed_;  ///< hosts, and the place of the first there
  Duration took_{0};                            ///< until it was at the end for the first time
  Time again_at_{};  ///< then it begins anew; known since it was at the end

  // Of the way back.
  std::set<std::string> wanted_;  ///< what it went back for
  std::int64_t came_from_ = 0;
  Duration back_took_{0};
  Time rests_until_{};
};

}  // namespace holdfast::sidekiq
