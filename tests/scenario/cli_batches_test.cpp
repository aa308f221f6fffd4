#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Answers every row with ten times its `n`; a row without one ends it.
constexpr auto processor = R"(python3 -uc '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    n = int(row["input"]["n"])
    print(json.dumps({"status": "success" if n != 3 else "failed", "result": n * 10,
                      "messages": [] if n != 3 else ["three is too many"],
                      "output": {"tens": str(n * 10)}}))
')";

class CliBatches : public CliScenario {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    auto path = (store_.folder() / name).string();
    std::ofstream{path, std::ios::binary} << content;
    return path;
  }
  std::string submit(const std::string& path, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"batch", "submit", path, "--app", "shop", "--op", "price"};
    words.insert(words.end(), more.begin(), more.end());
    return lines_of(ok(words)).at(0);
  }
  std::vector<std::string> run_words(const std::string& program = processor) const {
    return {"batch", "run", "--app", "shop", "--op", "price", "--exec", program, "--until-empty"};
  }
  boost::json::object status(const std::string& id) const {
    return json({"batch", "status", id}).at(0);
  }
};

TEST_F(CliBatches, AStoreWithOpenBatchesIsNotMoved) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n"));
  const std::vector<std::string> move{"move", "--from", store_.address(), "--to",
                                      "sqlite:" + (store_.folder() / "b.db").string()};
  const Finished refused = cli(move);
  EXPECT_EQ(refused.ending.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("batches cannot be moved"));
  EXPECT_THAT(refused.err, HasSubstr(id));
  ok(run_words());
  const Finished moved = cli(move);
  EXPECT_EQ(moved.ending.code, 0) << moved.err;
  EXPECT_THAT(moved.out + moved.err, HasSubstr("batches, which have ended, stay in"));
  EXPECT_THAT(ok({"queue", "status"}), HasSubstr("this store was moved to"));
}

TEST_F(CliBatches, AFileIsSubmittedProcessedAndItsOutputRead) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n\n{\"n\": 2}\n{\"n\": 3}\n"));
  EXPECT_EQ(status(id).at("status"), "queued");
  ok(run_words());
  auto ended = status(id);
  EXPECT_EQ(ended.at("status"), "failed");
  EXPECT_EQ(ended.at("rows").at("success"), 2);
  EXPECT_EQ(ended.at("rows").at("failed"), 1);
  EXPECT_EQ(ok({"batch", "output", id, "tens"}), "10\n20\n30\n");
  EXPECT_EQ(ok({"batch", "output", id}), "tens\n");
  auto failed = json({"batch", "rows", id, "--status", "failed"});
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].at("line"), 4) << "as an editor counts";
  EXPECT_EQ(failed[0].at("messages").at(0).at("vals").at(0), "three is too many");
  EXPECT_THAT(ok({"batch", "status", id}), HasSubstr("3 of 3 rows done, 1 failed"));
  EXPECT_THAT(ok({"batch", "status", id, "--watch"}), HasSubstr("failed"));
  EXPECT_THAT(ok({"batch", "list", "--status", "failed"}), HasSubstr(id));
  EXPECT_THAT(json({"batch", "list", "--status", "queued"}), IsEmpty());
}

TEST_F(CliBatches, BadLinesAreNamedAndTheOthersRun) {
  auto path = file("a.csv", "name,n\nfirst,1\nonly-one-field\n\"quoted, with \"\"quotes\"\"\",2\n");
  auto done = cli({"batch", "submit", path, "--app", "shop", "--op", "price"});
  ASSERT_TRUE(done.ending.ok());
  EXPECT_THAT(done.err, HasSubstr("a.csv:3: 1 fields, and the header names 2"));
  auto id = lines_of(done.out).at(0);
  ok(run_words());
  EXPECT_EQ(status(id).at("status"), "success");
  auto rows = json({"batch", "rows", id});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1].at("line"), 4);
  EXPECT_EQ(rows[1].at("input").at("name"), "quoted, with \"quotes\"");
}

TEST_F(CliBatches, AFileIsTakenOnce) {
  auto first = submit(file("a.jsonl", "{\"n\": 1}\n"));
  auto again =
      cli({"batch", "submit", file("b.jsonl", "{\"n\": 1}\n"), "--app", "shop", "--op", "price"});
  EXPECT_EQ(lines_of(again.out).at(0), first);
  EXPECT_THAT(again.err, HasSubstr("taken before"));
  EXPECT_THAT(json({"batch", "list"}), SizeIs(1));
}

TEST_F(CliBatches, TwoWhoSubmitTheSameLongFileMakeOneBatchOfIt) {
  constexpr int rows = 45'000;
  std::string content;
  for (int n = 1; n <= rows; ++n) content += fmt::format("{{\"n\": {}}}\n", n);
  auto path = file("a.jsonl", content);
  std::vector<std::string> words{"batch", "submit", path, "--app", "shop", "--op", "price"};
  auto one = start(words), other = start(words);
  for (auto* each : {&one, &other}) {
    auto ending = each->wait();
    ASSERT_TRUE(ending && ending->ok());
  }
  auto batches = json({"batch", "list"});
  ASSERT_THAT(batches, SizeIs(1));
  EXPECT_EQ(batches[0].at("status"), "queued");
  EXPECT_EQ(batches[0].at("rows").at("queued"), rows);
}

TEST_F(CliBatches, WhoAppendsAtTheSameTimeDoesNotGetTheSameLines) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n"), {"--wait"});
  std::string content;
  for (int n = 1; n <= 500; ++n) content += "{}\n";
  auto more = file("more.jsonl", content);
  std::vector<Process> appending;
  for (int i = 0; i < 4; ++i) appending.push_back(start({"batch", "append", id, more}));
  for (auto& each : appending) {
    auto ending = each.wait();
    ASSERT_TRUE(ending && ending->ok());
  }
  auto rows = json({"batch", "rows", id, "--limit", "3000"});
  ASSERT_THAT(rows, SizeIs(2'001));
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i].at("line"), i + 1);
}

TEST_F(CliBatches, ALineThatNoStoreCanKeepDoesNotKeepTheOthersOut) {
  file("holdfast.yaml", "queue:\n  limits:\n    payloadBytes: 1000\n");
  auto path = file("a.jsonl", "{\"n\": 1}\n\"" + std::string(2'000, 'x') +
                                  "\"\n{\"n\": \"\\u0000\"}\n{\"n\": \"\\\\u0000\"}\n");
  auto done = cli({"--config", (store_.folder() / "holdfast.yaml").string(), "batch", "submit",
                   path, "--app", "shop", "--op", "price"});
  ASSERT_TRUE(done.ending.ok()) << done.err;
  EXPECT_THAT(done.err, HasSubstr("a.jsonl:2: 2002 bytes, and at most 1000 are allowed"));
  EXPECT_THAT(done.err, HasSubstr("a.jsonl:3: a text with a zero character"));
  EXPECT_EQ(status(lines_of(done.out).at(0)).at("rows").at("queued"), 2);
}

TEST_F(CliBatches, FilesThatComeIntoAFolderAreTakenWhenTheyAreWhole) {
  auto folder = store_.folder() / "inbox";
  std::filesystem::create_directory(folder);
  file("inbox/b.jsonl", "{\"n\": 1}\n");
  file("inbox/a.csv", "n\n2\n");
  file("inbox/c.jsonl.part", "{\"n\": 1}\n");
  file("inbox/empty.csv", "n\n");
  std::ofstream open_still{folder / "d.jsonl"};
  open_still << "{\"n\": 3}\n" << std::flush;
  std::vector<std::string> words{"batch", "watch", folder,  "--app", "shop",
                                 "--op",  "price", "--age", "1ms",   "--once"};
  auto taken = json(words);
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_EQ(taken[0].at("file"), "a.csv");
  EXPECT_EQ(taken[1].at("file"), "b.jsonl");
  EXPECT_TRUE(std::filesystem::exists(folder / "taken" / "a.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder / "refused" / "empty.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder / "d.jsonl")) << "somebody still writes to it";
  open_still.close();
  file("inbox/b.jsonl", "{\"n\": 1}\n");
  taken = json(words);
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_EQ(taken[0].at("created"), false) << "the same content came before";
  EXPECT_EQ(taken[1].at("file"), "d.jsonl");
  EXPECT_TRUE(std::filesystem::exists(folder / "taken" / "b.jsonl.2"));
  EXPECT_THAT(json({"batch", "list"}), SizeIs(3));
}

TEST_F(CliBatches, WhatIsWrongForAllFilesIsSaidBeforeOneIsTouched) {
  std::filesystem::create_directory(store_.folder() / "inbox");
  auto path = file("inbox/a.csv", "n\n2\n");
  auto watch = [&](std::vector<std::string> more) {
    std::vector<std::string> words{
        "batch", "watch", store_.folder() / "inbox", "--once", "--age", "1ms", "--app", "shop"};
    words.insert(words.end(), more.begin(), more.end());
    return cli(words);
  };
  EXPECT_THAT(watch({"--op", "Price"}).err, HasSubstr("lower case"));
  EXPECT_THAT(watch({"--op", "price", "--context", "{"}).err, HasSubstr("context is not JSON"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(CliBatches, ABatchWaitsForItsRows) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n"), {"--wait"});
  EXPECT_EQ(status(id).at("status"), "wait");
  ok({"batch", "append", id, "-"}, "{\"n\": 2}\n");
  ok({"batch", "release", id});
  EXPECT_EQ(cli({"batch", "release", id}).ending.code, 1);
  EXPECT_THAT(cli({"batch", "append", id, "-"}, "{\"n\": 2}\n").err,
              HasSubstr("does not wait for rows: it is queued"));
  ok(run_words());
  EXPECT_EQ(status(id).at("rows").at("success"), 2);
}

TEST_F(CliBatches, AnAbortEndsABatch) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n"));
  ok({"batch", "abort", id});
  EXPECT_EQ(status(id).at("status"), "aborted");
  EXPECT_THAT(ok({"batch", "status", id}), HasSubstr("1 of 1 rows done, 1 aborted"));
  EXPECT_THAT(cli({"batch", "abort", id}).err, HasSubstr("has ended already: it is aborted"));
}

TEST_F(CliBatches, AProgramThatDiesOnARowFailsItWithHowItEnded) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n{\"n\": \"x\"}\n{\"n\": 2}\n"));
  auto words = run_words();
  words.insert(words.end(), {"--attempts", "1", "--concurrency", "1"});
  ok(words);
  auto rows = json({"batch", "rows", id});
  EXPECT_EQ(rows[0].at("result"), 10);
  EXPECT_EQ(rows[1].at("status"), "failed");
  EXPECT_THAT(boost::json::serialize(rows[1].at("messages")), HasSubstr("exit code 1"));
  EXPECT_EQ(rows[2].at("result"), 20);
}

TEST_F(CliBatches, RowsAreNotChargedForAProgramThatIsGone) {
  const auto program = (store_.folder() / "price").string();
  const auto install = [&] {
    std::ofstream{program} << "#!/bin/sh\n" << processor << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  };
  install();
  ok({"task", "add", "greet"});  // a store to look into
  auto sick = start({"batch", "run", "--app", "shop", "--op", "price", "--exec", program,
                     "--attempts", "1", "--concurrency", "4"});
  ASSERT_TRUE(eventually([&] { return !json({"worker", "list", "--state", "running"}).empty(); }));
  std::filesystem::remove(program);
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += fmt::format("{{\"n\": {}}}\n", 10 + i);
  const auto id = submit(file("b.jsonl", rows));
  ASSERT_TRUE(eventually([&] {
    return sick.err().find("cannot run tasks of kind") != std::string::npos;
  })) << sick.err();
  EXPECT_NE(status(id).at("status"), "failed");
  install();
  ASSERT_TRUE(eventually([&] { return status(id).at("status") == "success"; })) << sick.err();
  for (const auto& row : json({"batch", "rows", id})) EXPECT_EQ(row.at("status"), "success");
  EXPECT_THAT(sick.err(), HasSubstr("can run tasks of kind"));
}

TEST_F(CliBatches, AnAnswerThatIsNoneFailsTheRow) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n"));
  ok(run_words("while read line; do echo '{\"status\": \"perhaps\"}'; done"));
  EXPECT_THAT(boost::json::serialize(json({"batch", "rows", id}).at(0).at("messages")),
              HasSubstr("the status is 'perhaps'"));
}

TEST_F(CliBatches, NoRowGetsTheAnswerToAnother) {
  auto id = submit(file("a.jsonl", "1\n2\n3\n4\n"));
  // What it says beside its answers comes with the first of them, so it is there for the next row.
  auto words = run_words(R"(python3 -uc '
import json, sys
for count, line in enumerate(sys.stdin):
    n = json.loads(line)["input"]
    sys.stdout.write(json.dumps({"status": "success", "result": n}) + "\n" + "and more\n" * (n % 2))
')");
  words.insert(words.end(), {"--concurrency", "1"});
  ok(words);
  for (const auto& row : json({"batch", "rows", id})) {
    EXPECT_EQ(row.at("status"), "success");
    EXPECT_EQ(row.at("result"), row.at("input"));
  }
  id = submit(file("b.jsonl", "5\n6\n7\n"));
  words = run_words(R"(python3 -uc '
import json, sys
print("loading")
for line in sys.stdin: print(json.dumps({"status": "success", "result": json.loads(line)["input"]}))
')");
  words.insert(words.end(), {"--concurrency", "1"});
  ok(words);
  for (const auto& row : json({"batch", "rows", id})) {
    EXPECT_EQ(row.at("status"), "failed") << "it never answers the row that it was asked";
  }
}

TEST_F(CliBatches, AnAnswerMayNameItsRow) {
  auto id = submit(file("a.jsonl", "1\n2\n"));
  auto words = run_words(R"(python3 -uc '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"status": "failed", "key": row["key"] if row["input"] == 1 else "else",
                      "messages": [{"id": 7, "code": "c", "field": "f", "values": ["v", 1]}],
                      "output": {"all": ["x", "y"]}}))
')");
  ok(words);
  auto rows = json({"batch", "rows", id});
  EXPECT_EQ(boost::json::serialize(rows[0].at("messages")),
            R"([{"msgid":7,"errcode":"c","field":"f","vals":["v","1"]}])");
  EXPECT_THAT(boost::json::serialize(rows[1].at("messages")), HasSubstr("with the key 'else'"));
  EXPECT_EQ(ok({"batch", "output", id, "all"}), "x\ny\n");
}

TEST_F(CliBatches, RowsOfAKilledWorkerAreRecoveredByHand) {
  auto id = submit(file("a.jsonl", "{\"n\": 1}\n{\"n\": 2}\n"));
  auto worker =
      start({"batch", "run", "--app", "shop", "--op", "price", "--exec", "exec tail -f /dev/null"});
  ASSERT_TRUE(eventually([&] { return status(id).at("rows").at("inprog").as_int64() > 0; }));
  worker.kill();
  auto report = json({"batch", "recover"}).at(0);
  EXPECT_EQ(status(id).at("rows").at("inprog"), 0);
  EXPECT_THAT(boost::json::serialize(report), HasSubstr("of batch " + id));
  ok(run_words());
  EXPECT_EQ(status(id).at("status"), "success");
}

TEST_F(CliBatches, WhatIsWrongIsSaid) {
  auto refused = [&](std::vector<std::string> words, const std::string& why) {
    auto done = cli(std::move(words));
    EXPECT_EQ(done.ending.code, 1);
    EXPECT_THAT(done.err, HasSubstr(why));
  };
  submit(file("a.jsonl", "{\"n\": 1}\n"));
  refused({"batch", "status", "nonsense"}, "is not the id of a batch");
  refused({"batch", "status", "01890000-0000-7000-8000-000000000000"}, "there is no batch");
  refused({"batch", "submit", "/nowhere", "--app", "a", "--op", "b"}, "cannot read /nowhere");
  refused({"batch", "submit", file("empty.csv", "a,b\n"), "--app", "a", "--op", "b"},
          "has no rows");
  refused({"batch", "submit", file("b.jsonl", "1\n"), "--app", "a", "--op", "B"}, "lower case");
  refused({"batch", "submit", "-", "--app", "a", "--op", "b"}, "standard input has no rows");
  refused({"batch", "recover", "--liveness", "redis://127.0.0.1:1"}, "nobody shares those in");
  refused({"batch", "recover", "--liveness", "somewhere"}, "write redis://HOST:PORT");
}

}  // namespace
}  // namespace holdfast::test
