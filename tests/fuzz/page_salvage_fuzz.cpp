#include <cstdlib>

#include "engines/sqlite/page_salvage.hpp"
#include "engines/sqlite/record_mend.hpp"
#include "engines/sqlite/schema.hpp"

using namespace holdfast::sqlite;

namespace {

std::vector<TableShape> shapes() {
  Connection db{":memory:", Connection::Mode::read_write, holdfast::Durability::crash_safe};
  make_tables(db);
  return our_tables(db);
}

}  // namespace

/// Reads any bytes as a damaged store. Nothing may crash, hang, or read what is not there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tables = shapes();
  PageFile file{{data, size}};
  PageSalvage salvage{file};
  salvage.contents();
  salvage.indexed_tasks();
  salvage.each_row(tables, [&](const PageSalvage::Row& row) {
    auto record = decode_record(row.record);
    if (record && record->size() > 1'000'000) std::abort();
  });
  if (size <= 64)
    mend_record({data, data + size}, tables.front(),
                [](const Record& record) { return record.size() == 3; });
  return 0;
}
