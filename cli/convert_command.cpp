#include <cstdio>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/convert/convert.h"
#include "cli/convert/system_facts.h"
#include "cli/manifests.h"
#include "cli/plain_text.h"

namespace trainyard::cli {
namespace {

struct ConvertFlags {
  std::vector<std::string> files;
  bool strict = false;
  bool table = false;
};

int convert(const std::string& program, const ConvertFlags& flags) {
  if (flags.table) return printResult(program, conversionTables());
  if (flags.files.empty())
    return printResult(program, base::fail(base::ErrorCode::kInvalid, "name a file by -f"));
  const auto manifests = readManifests(flags.files);
  if (!manifests) return printResult(program, base::fail(manifests.error()));
  const auto converted = convertManifests(*manifests);
  if (!converted) return printResult(program, base::fail(converted.error()));
  if (flags.strict && converted->worst != Severity::kKept) {
    for (const std::string& each : converted->problems)
      fmt::print(stderr, "{}: {}\n", program, plainText(each, false));
    return 1;
  }
  printResult(program, converted->text);
  return exitStatusOf(converted->worst);
}

}  // namespace

void addConvertCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command =
      app.add_subcommand("convert",
                         "Volcano's Job, a PyTorchJob or a TrainJob as a TrainingJob; comments name what "
                         "changes its meaning. Exit status: 0 nothing, 3 something changed or is lost, 4 "
                         "something cannot work as written, 1 nothing was converted");
  command->add_option("-f,--filename", flags->files, "file, or - for standard input");
  command->add_flag("--strict", flags->strict,
                    "write nothing, and exit with 1, unless all keeps its meaning");
  command->add_flag("--table", flags->table, "print what becomes of every field, as Markdown");
  command->callback([flags, program, run] { run([flags, program] { return convert(program, *flags); }); });
}

}  // namespace trainyard::cli
