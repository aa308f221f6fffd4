#include "tasks/thrown.hpp"

#include <exception>

#include <holdfast/error.hpp>

namespace holdfast {

Outcome outcome_of_thrown() {
  try {
    throw;
  } catch (const UnfitPayload& error) {
    return hold(error.what());
  } catch (const std::exception& error) {
    return retry(error.what());
  } catch (...) {
    return retry("the handler threw something that is not a std::exception");
  }
}

}  // namespace holdfast
