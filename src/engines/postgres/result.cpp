#include "engines/postgres/result.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <cstring>

#include "engines/postgres/values.hpp"

namespace holdfast::postgres {

namespace {

template <class T>
T read_id(std::string_view bytes) {
  T id;
  if (bytes.size() == id.bytes.size()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

Rows::Rows(pg_result* result) : result_{result}, count_{PQntuples(result)} {}

bool Rows::next() { return ++row_ < count_; }

int Rows::columns() const { return result_ ? PQnfields(result_.get()) : 0; }

std::int64_t Rows::changed() const { return result_ ? std::atoll(PQcmdTuples(result_.get())) : 0; }

bool Rows::is_null(int column) const { return PQgetisnull(result_.get(), row_, column) != 0; }

std::string_view Rows::bytes(int column) const {
  return {PQgetvalue(result_.get(), row_, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row_, column))};
}

std::int64_t Rows::integer(int column) const { return read_integer(bytes(column)); }
double Rows::real(int column) const { return read_real(bytes(column)); }
TaskId Rows::task_id(int column) const { return read_id<TaskId>(bytes(column)); }
WorkerId Rows::worker_id(int column) const { return read_id<WorkerId>(bytes(column)); }
ReportId Rows::report_id(int column) const { return read_id<ReportId>(bytes(column)); }

std::optional<WorkerId> Rows::optional_worker(int column) const {
  if (is_null(column)) return {};
  return worker_id(column);
}

std::optional<WallTime> Rows::optional_time(int column) const {
  if (is_null(column)) return {};
  return time(column);
}

std::vector<std::string> Rows::texts(int column) const {
  std::vector<std::string> list;
  for (auto element : read_array(bytes(column))) list.emplace_back(element);
  return list;
}

std::vector<TaskId> Rows::task_ids(int column) const {
  std::vector<TaskId> list;
  for (auto element : read_array(bytes(column))) list.push_back(read_id<TaskId>(element));
  return list;
}

std::vector<std::int64_t> Rows::integers(int column) const {
  std::vector<std::int64_t> list;
  for (auto element : read_array(bytes(column))) list.push_back(read_integer(element));
  return list;
}

}  // namespace holdfast::postgres
