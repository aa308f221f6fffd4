#include <gmock/gmock.h>

#include <cerrno>

#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/store.hpp"
#include "faults/file_calls.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CheckpointTrouble, IsToldAndOverWhenThereIsRoomAgain) {
  intercept_file_calls();
  TempStore place;
  Engine engine{sqlite::open_store(place.database(), {})};
  std::vector<std::string> troubles;
  engine.events().subscribe([&](const Event& event) {
    if (auto trouble = std::get_if<StoreTrouble>(&event)) troubles.push_back(trouble->why);
  });
  auto& writer = sqlite::store_of(engine).writer;
  {
    Faults faults{[](Call call, std::string_view file) -> std::optional<Fault> {
      if (call != Call::write || file != "work.db") return {};
      return Fault{ENOSPC};
    }};
    writer.checkpoint();
  }
  EXPECT_THAT(troubles, ElementsAre(HasSubstr("no room left")));
  writer.checkpoint();
  EXPECT_EQ(troubles.size(), 1U);
}

}  // namespace
}  // namespace holdfast::test
