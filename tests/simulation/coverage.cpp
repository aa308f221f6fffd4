#include "simulation/coverage.hpp"

#include <fmt/format.h>

namespace holdfast::sim {

namespace {

constexpr std::array names = {
    std::string_view{"an enqueue whose reply was lost was repeated"},
    std::string_view{"a settlement whose reply was lost was recognised"},
    std::string_view{"a stale settlement was refused"},
    std::string_view{"a stale note was refused"},
    std::string_view{"an effect kept the value of an earlier attempt"},
    std::string_view{"the reply to a claim was lost"},
    std::string_view{"a lease past its time that nobody took was renewed"},
    std::string_view{"a renewal came between the scan and the taking back"},
    std::string_view{"another recovery took the work first"},
    std::string_view{"another recovery buried the worker first"},
    std::string_view{"a heartbeat came between the look and the burial"},
    std::string_view{"a live worker was buried and enlisted again"},
    std::string_view{"a recovery died after it had taken work back"},
    std::string_view{"a recovery did not hear that it had taken work back"},
    std::string_view{"a recovery that died half-way was finished by another"},
    std::string_view{"a recovery died and left a report of what it had done"},
    std::string_view{"a worker said goodbye and left a claim it never heard of"},
    std::string_view{"a dead worker was not cleared because it still held work"},
    std::string_view{"work that had not started was not charged with the crash"},
    std::string_view{"work that ran alone was charged with the crash"},
    std::string_view{"a suspect ran alone"},
    std::string_view{"a task was quarantined"},
    std::string_view{"a handler made a dead letter"},
    std::string_view{"recovery made a dead letter"},
    std::string_view{"a handler stopped because its task was called off"},
    std::string_view{"recovery ended a task that was to stop"},
    std::string_view{"a task was called off between verdict and reclaim"},
    std::string_view{"a running task was taken from its worker by force"},
    std::string_view{"a worker stopped its own handler at the end of the lease"},
    std::string_view{"a handler that does not listen was given up"},
    std::string_view{"one handler was handed several tasks"},
    std::string_view{"a worker that shut down gave back what it held"},
    std::string_view{"a task completed after a crash"},
    std::string_view{"a dead letter was retried by an operator and completed"},
    std::string_view{"a blocked task became ready"},
    std::string_view{"a blocked task was cancelled with what it waited for"},
    std::string_view{"a follow-up was inserted with the settlement"},
    std::string_view{"a claim was made after the wall clock went back"},
};
static_assert(names.size() == static_cast<std::size_t>(Sometimes::count));

}  // namespace

std::string_view to_string(Sometimes point) { return names[static_cast<std::size_t>(point)]; }

std::vector<std::string_view> Coverage::missed() const {
  std::vector<std::string_view> missed;
  for (std::size_t i = 0; i < hits_.size(); ++i) {
    if (hits_[i] == 0) missed.push_back(names[i]);
  }
  return missed;
}

std::string Coverage::to_text() const {
  std::string text;
  for (std::size_t i = 0; i < hits_.size(); ++i) {
    text += fmt::format("{:>9}  {}\n", hits_[i], names[i]);
  }
  return text;
}

}  // namespace holdfast::sim
