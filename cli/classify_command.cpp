#include "cli/classify_command.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/file.h"
#include "cli/classify.h"
#include "cli/philly_failures.h"
#include "cli/plain_text.h"
#include "codec/policy.h"

namespace trainyard::cli {
namespace {

constexpr int kUnderBound = 1;
constexpr int kUnusableInput = 2;
// The JSON reader accepts at most this many bytes.
constexpr std::size_t kMaxBytes = 16 << 20;

struct ClassifyFlags {
  std::vector<std::string> files;
  std::string policyFile;
  std::string output = "table";
  bool check = false;
  double bound = 0;
  bool phillyTable = false;
};

base::Result<core::FailureClassifier> classifierFor(const std::string& policyFile) {
  if (policyFile.empty()) return core::FailureClassifier::make();
  const auto text = base::readFile(policyFile);
  if (!text) return base::fail(text.error());
  const auto policy = codec::decodePolicy(*text, policyFile);
  if (!policy) return base::fail(policy.error());
  return core::FailureClassifier::make(policy->failureRules);
}

base::Result<std::vector<ClassifiedCase>> classifyFiles(const ClassifyFlags& flags) {
  const auto classifier = classifierFor(flags.policyFile);
  if (!classifier) return base::fail(classifier.error());
  std::vector<ClassifiedCase> classified;
  for (const std::string& file : flags.files) {
    const auto text = base::readFile(file, kMaxBytes);
    if (!text) return base::fail(text.error());
    auto cases = codec::decodeFailureCases(*text, file);
    if (!cases) return base::fail(cases.error());
    for (codec::FailureCase& each : *cases) {
      core::Classification found = classifier->classify(each.members);
      classified.push_back({std::move(each), std::move(found)});
    }
  }
  return classified;
}

int check(const std::vector<ClassifiedCase>& cases, double bound) {
  const ClassifyScore score = scoreCases(cases);
  fmt::print("{}", score.text);
  const int least = static_cast<int>(bound * 1'000 + 0.5);
  return score.macroF1 < least || score.roots < least ? kUnderBound : 0;
}

int runClassifyCommand(const ClassifyFlags& flags) {
  if (flags.phillyTable) {
    fmt::print("{}", phillyTable());
    return 0;
  }
  const auto complain = [](std::string_view what) {
    fmt::print(stderr, "trainyard classify: {}\n", plainText(what, true));
    return kUnusableInput;
  };
  if (flags.files.empty()) return complain("no file of cases is named");
  const auto cases = classifyFiles(flags);
  if (!cases) return complain(cases.error().message);
  if (flags.check) return check(*cases, flags.bound);
  fmt::print("{}", plainText(flags.output == "json" ? classifyJson(*cases) : classifyTable(*cases), true));
  return 0;
}

}  // namespace

void addClassifyCommand(CLI::App& app, const std::function<void(std::function<int()>)>& run) {
  CLI::App* command = app.add_subcommand(
      "classify", "why gangs failed: pod statuses and ends of logs in, class, root member and action out");
  const auto flags = std::make_shared<ClassifyFlags>();
  command->add_option("CASE", flags->files, "files with one case or a list of them (docs/failures.md)");
  command->add_option("--policy-file", flags->policyFile,
                      "the cluster's policy, for its failures.rules; else the built-in rules alone");
  command->add_option("-o,--output", flags->output, "table or json")->check(CLI::IsMember({"table", "json"}));
  CLI::Option* checking = command->add_flag("--check", flags->check,
                                            "compare with what the cases expect: mistakes, macro-F1, roots");
  command
      ->add_option("--bound", flags->bound,
                   "exit with 1 where macro-F1 or the share of roots is less than this")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(checking);
  command->add_flag("--philly-table", flags->phillyTable,
                    "what the failures of a large cluster cost, retried three times and by our classes");
  command->footer("Exit status: 0 done, 1 under the bound, 2 a file cannot be used.");
  command->callback([flags, run] { run([flags] { return runClassifyCommand(*flags); }); });
}

}  // namespace trainyard::cli
