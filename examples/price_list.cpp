// A list of articles becomes a batch: every row is priced by whichever worker is free, and in the
// end there is one price list. Kill it at any moment and start it again: no row is lost, and none
// is in the list twice.

#include <holdfast/batches.hpp>
#include <holdfast/holdfast.hpp>
#include <iostream>

struct Article {
  std::string name;
  int cents = 0;
};
BOOST_DESCRIBE_STRUCT(Article, (), (name, cents))

holdfast::RowResult price(const Article& article, const holdfast::RowAttempt&) {
  if (article.cents <= 0) return holdfast::row_failed("no_price", article.name + " costs nothing");
  auto result = holdfast::row_done(Article{article.name, article.cents * 119 / 100});
  result.output["prices.txt"] = article.name + " " + std::to_string(article.cents * 119 / 100);
  return result;
}

int main() {
  holdfast::Batches batches{holdfast::open("sqlite:prices.db"),
                            {.blobs = holdfast::open_blobs("dir:prices")}};
  batches.on<Article>("shop", "price", price);

  holdfast::NewBatch list{.app = "shop", .op = "price"};
  for (const auto& article : {Article{"pencil", 100}, Article{"air", 0}, Article{"paper", 400}})
    list.rows.push_back({static_cast<int>(list.rows.size()) + 1, holdfast::to_payload(article)});
  auto id = batches.submit(list).id;

  holdfast::run(batches, {.until_empty = true});

  auto ended = batches.wait(id);
  std::cout << to_string(ended.status) << ": " << ended.rows[holdfast::BatchStatus::success]
            << " priced, " << ended.rows[holdfast::BatchStatus::failed] << " not\n"
            << batches.output(id, "prices.txt").value_or("");
}
