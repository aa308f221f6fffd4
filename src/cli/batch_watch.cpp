#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "batches/validate.hpp"
#include "cli/batch_commands.hpp"
#include "cli/batch_input.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/duration.hpp"
#include "cli/interrupts.hpp"
#include "documents/json.hpp"
#include "recovery/file_lock.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds between_looks{500};

struct BatchWatchOptions {
  std::string folder, age = "5s", format;
  NewBatch batch;
  bool once = false;
};

/// Names that people and programs give to what is not finished.
bool is_unfinished_name(const std::string& name) {
  return name.starts_with('.') || name.ends_with(".tmp") || name.ends_with(".part") ||
         name.ends_with('~');
}

/// The kernel grants a read lease only while nobody has the file open for writing. Where it does
/// not tell (another's file, a network), the age of the file has to do.
bool is_being_written(const fs::path& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0) return true;
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno == EAGAIN;
}

/// Takes what has come to rest in a folder, and moves it into one below.
class Intake {
 public:
  Intake(Context& context, Batches& batches, const BatchWatchOptions& options)
      : context_{context},
        batches_{batches},
        options_{options},
        age_{parse_duration(options.age, "--age")} {}

  void look() {
    std::vector<fs::path> ready;
    for (const auto& entry : fs::directory_iterator{options_.folder})
      if (entry.is_regular_file() && is_at_rest(entry)) ready.push_back(entry.path());
    std::ranges::sort(ready);
    for (const auto& path : ready) take(path);
  }

  /// The same for ever: a store that is away for a while is not the end.
  void look_and_go_on() {
    try {
      look();
      trouble_.clear();
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreError& error) {
      if (trouble_ != error.what())
        fmt::print(stderr, "holdfast: {}; trying again\n", plain(error.what()));
      trouble_ = error.what();
    }
  }

 private:
  bool is_at_rest(const fs::directory_entry& entry) const {
    if (is_unfinished_name(entry.path().filename().string())) return false;
    std::error_code gone;
    auto written = entry.last_write_time(gone);
    if (gone || fs::file_time_type::clock::now() - written < age_) return false;
    return !is_being_written(entry.path());
  }

  void take(const fs::path& path) {
    try {
      auto read = rows_of_file(context_, path.string(), options_.format);
      auto batch = options_.batch;
      batch.file = read.file;
      auto rows = read.rows.size();
      auto submitted = submit_rows(batches_, std::move(batch), std::move(read.rows));
      tell(path, submitted, rows);
      // Killed before this, it finds the file again, and that it was taken.
      move_to(path, "taken");
    } catch (const InvalidRequest& error) {
      fmt::print(stderr, "holdfast: {} is refused: {}\n", plain(path.string()),
                 plain(error.what()));
      move_to(path, "refused");
    }
  }

  void tell(const fs::path& path, const Batches::Submitted& submitted, std::size_t rows) const {
    if (context_.json)
      context_.print_json(JsonObject{}
                              .text("file", path.filename().string())
                              .text("id", submitted.id.text())
                              .flag("created", submitted.created)
                              .number("rows", rows)
                              .str());
    else
      context_.say(fmt::format("{} {}{}", submitted.id.text(), path.filename().string(),
                               submitted.created ? "" : " (taken before)"));
    std::fflush(stdout);
  }

  /// One of the same name that is there already stays: this one gets a number.
  void move_to(const fs::path& path, const char* where) const {
    auto folder = fs::path{options_.folder} / where;
    fs::create_directories(folder);
    auto to = folder / path.filename();
    for (int n = 2; fs::exists(to); ++n)
      to = folder / fmt::format("{}.{}", path.filename().string(), n);
    std::error_code error;
    fs::rename(path, to, error);
    // Somebody else who watches the folder has taken the same file, and moved it.
    if (error && error != std::errc::no_such_file_or_directory)
      throw StoreError{
          fmt::format("cannot move {} to {}: {}", path.string(), to.string(), error.message())};
  }

  Context& context_;
  Batches& batches_;
  const BatchWatchOptions& options_;
  Millis age_;
  std::string trouble_{};  ///< said last
};

Exit run_batch_watch(Context& context, const BatchWatchOptions& options) {
  if (!fs::is_directory(options.folder))
    throw InvalidRequest{fmt::format("{} is not a folder", options.folder)};
  // What is wrong with all of them must not be laid at the door of the first.
  auto any = options.batch;
  any.rows.push_back({1, "{}"});
  validate(any, context.config().settings);
  // Somebody who opens a file while we ask for its lease would end us with this.
  ::signal(SIGIO, SIG_IGN);
  Interrupts interrupts;
  std::stop_source stop;
  Batches batches{context.engine(Stay::lasting)};
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  Intake intake{context, batches, options};
  std::mutex mutex;
  std::condition_variable_any never;
  if (options.once) intake.look();
  while (!options.once && !stop.stop_requested()) {
    intake.look_and_go_on();
    std::unique_lock lock{mutex};
    never.wait_for(lock, stop.get_token(), between_looks, [] { return false; });
  }
  return interrupts.first() == SIGINT ? Exit::interrupted : Exit::ok;
}

}  // namespace

void add_batch_watch(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchWatchOptions>();
  CLI::App* command =
      parent.add_subcommand("watch", "Submit every file that comes into a folder as a batch");
  command->add_option("FOLDER", options->folder, "Taken files go into taken/ in it")
      ->required()
      ->type_name("");
  add_new_batch(*command, options->batch, options->format);
  command
      ->add_option("--age", options->age,
                   "Take files that nobody has written to for so long; default: 5s")
      ->type_name("DURATION");
  command->add_flag("--once", options->once, "Look once and end");
  chosen(*command, context, options, run_batch_watch);
}

}  // namespace holdfast::cli
