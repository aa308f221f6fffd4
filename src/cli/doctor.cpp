#include <holdfast/diagnosis.hpp>

#include "cli/command.hpp"
#include "cli/diagnosis_text.hpp"
#include "cli/server_folder.hpp"
#include "server/audit.hpp"
#include "server/serve.hpp"
#include "server/tokens.hpp"

namespace holdfast::cli {

namespace {

Exit run_doctor(Context& context, const DiagnosisOptions& options) {
  context.require_store();
  auto diagnosis = diagnose(context.store_address(), options, context.config().settings);
  if (const auto folder = server_folder(context.store_address())) {
    for (auto& finding : server::audit_findings(*folder))
      diagnosis.advice.push_back(std::move(finding));
    server::Tokens tokens{server::tokens_file(*folder)};
    for (auto& fault : faults_of(tokens)) diagnosis.advice.push_back(std::move(fault));
  }
  if (context.json)
    context.print_json(diagnosis_json(diagnosis));
  else
    context.print(diagnosis_text(diagnosis));
  if (diagnosis.level == RunLevel::read_only) return Exit::read_only;
  const bool damaged = diagnosis.integrity && !diagnosis.integrity->passed;
  return diagnosis.level == RunLevel::halted || damaged ? Exit::halted : Exit::ok;
}

}  // namespace

void add_doctor(CLI::App& parent, Context& context) {
  auto options = std::make_shared<DiagnosisOptions>();
  CLI::App* command = parent.add_subcommand(
      "doctor", "Say how the store is, what is wrong with it, and what to do");
  command->add_flag("--full", options->full, "Check every page and index, however long it takes");
  command->add_flag("--accept-loss", options->accept_loss,
                    "Go on without the commits that cannot be read any more");
  chosen(*command, context, options, run_doctor);
}

}  // namespace holdfast::cli
