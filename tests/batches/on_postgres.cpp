#include "batches/batch_crash.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {

std::string BatchCrash::new_address(const TempStore&) {
  return PostgresServer::shared().new_store();
}

}  // namespace holdfast::test
