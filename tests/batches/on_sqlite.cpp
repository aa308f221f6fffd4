#include "batches/batch_crash.hpp"

namespace holdfast::test {

std::string BatchCrash::new_address(const TempStore& store) { return store.address(); }

}  // namespace holdfast::test
