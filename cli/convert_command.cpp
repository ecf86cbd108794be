#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/convert.h"
#include "cli/foreign_job.h"
#include "cli/json_text.h"
#include "cli/manifests.h"

namespace trainyard::cli {
namespace {

base::Result<std::string> convert(const std::vector<std::string>& files) {
  const auto manifests = readManifests(files);
  if (!manifests) return base::fail(manifests.error());
  if (manifests->empty()) return base::fail(base::ErrorCode::kInvalid, "there is no object in the files");
  // Where nothing is to convert the first one is refused by its name.
  const bool anyJob = std::any_of(manifests->begin(), manifests->end(),
                                  [](const Manifest& each) { return !staysAsItIs(each.json); });
  std::string text;
  for (const Manifest& manifest : *manifests) {
    if (anyJob && staysAsItIs(manifest.json)) {
      const auto yaml = yamlOfJson(manifest.json);
      if (!yaml) return base::fail(yaml.error());
      text += fmt::format("{}# as it was\n{}", text.empty() ? "" : "---\n", *yaml);
      continue;
    }
    if (const std::string why = whyLeftOut(manifest.json); !why.empty()) {
      text += fmt::format("# {}\n", why);
      continue;
    }
    const auto converted = convertJob(manifest.json);
    if (!converted)
      return base::fail(converted.error().code,
                        fmt::format("{}: {}", manifest.file, converted.error().message));
    const auto yaml = yamlOfJson(converted->json);
    if (!yaml) return base::fail(yaml.error());
    text += text.empty() ? "" : "---\n";
    for (const std::string& note : converted->notes) text += fmt::format("# {}\n", note);
    text += *yaml;
  }
  return text;
}

}  // namespace

void addConvertCommand(CLI::App& app, const std::string& program, const Runner& run) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "convert", "Volcano's Job, a PyTorchJob or a TrainJob as a TrainingJob; comments tell what to look at");
  command->add_option("-f,--filename", *files, "file, or - for standard input")->required();
  command->callback(
      [files, program, run] { run([files, program] { return printResult(program, convert(*files)); }); });
}

}  // namespace trainyard::cli
