// Fetches a profile and stores it. The request survives the death of every process that has to do
// with it, and so does the answer: it is handed to a callback, which is a task.

#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>
#include <iostream>

struct Reader {
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(Reader, (), (number))

void store(const holdfast::http::Response& response, const Reader& reader) {
  std::cout << "reader " << reader.number << ": " << response.status << std::endl;
}

void explain(const holdfast::http::RequestError& error, const Reader& reader) {
  std::cout << "reader " << reader.number << ": " << error.message << std::endl;
}

int main(int argc, char** argv) {
  auto engine = holdfast::open("sqlite:profile.db");

  holdfast::http::Client api{engine, {.base_url = argc > 1 ? argv[1] : "https://example.org"}};
  api.get("readers/7", holdfast::http::callback("store_profile", Reader{.number = 7}));

  // In another process, most often: there it is `holdfast http run`.
  holdfast::http::ProcessorOptions options;
  options.egress.allow = {"127.0.0.1"};
  options.until_empty = true;
  holdfast::http::Processor{engine, options}.run();

  holdfast::Tasks tasks{engine};
  holdfast::http::on<Reader>(tasks, "store_profile", store, explain);
  holdfast::run(tasks, {.until_empty = true});
}
