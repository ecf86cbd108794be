#include "cli/completed_names.h"

#include <catch2/catch.hpp>

namespace trainyard::cli {
namespace {

const std::vector<CompletedCommand> kCommands = {
    {.name = "logs",
     .help = "",
     .options = {},
     .valued = {"--rank", "-n", "--namespace", "--context", "-o"},
     .positional = "JOB"},
    {.name = "drain", .help = "", .options = {}, .valued = {"--timeout"}, .positional = "NODE"},
    {.name = "queues", .help = "", .options = {}, .valued = {}, .positional = "QUEUE"},
    {.name = "top", .help = "", .options = {}}};

CompletedWord of(const std::vector<std::string>& words) { return completedWord(words, kCommands); }

TEST_CASE("Completed names are of the kind that the command takes") {
  CHECK(of({"logs", "be"}).kind == CompletedKind::kJobs);
  CHECK(of({"logs", "be"}).begin == "be");
  CHECK(of({"drain", "--force", ""}).kind == CompletedKind::kNodes);
  CHECK(of({"queues", ""}).kind == CompletedKind::kQueues);
  CHECK(of({"top", ""}).kind == CompletedKind::kNothing);
  CHECK(of({"nonsense", ""}).kind == CompletedKind::kNothing);
  CHECK(of({"logs"}).kind == CompletedKind::kNothing);
  CHECK(of({}).kind == CompletedKind::kNothing);
  CHECK(of({"logs", "--fo"}).kind == CompletedKind::kNothing);
}

TEST_CASE("A kubectl line is completed at any word") {
  CHECK(completedLine({"lo"}, kCommands) == "logs\n");
  CHECK(completedLine({}, kCommands) == "logs\ndrain\nqueues\ntop\n");
  const std::vector<CompletedCommand> withFlags = {{.name = "wait",
                                                    .help = "",
                                                    .options = {"--for", "--timeout"},
                                                    .valued = {"--for"},
                                                    .positional = "JOB"}};
  CHECK(completedLine({"wait", "--"}, withFlags) == "--for\n--timeout\n");
  CHECK(completedLine({"wait", "--for", "Fin"}, withFlags) == "Finished\n");
}

TEST_CASE("An unknown word is matched to the nearest command or to none") {
  const std::vector<std::string> names = {"explain", "queues", "status", "top"};
  CHECK(nearestWord("queue", names) == "queues");
  CHECK(nearestWord("staus", names) == "status");
  CHECK(nearestWord("exlpain", names) == "explain");
  CHECK(nearestWord("bogus", names).empty());
  CHECK(nearestWord("x", names).empty());
}

TEST_CASE("Flags before the word set context and namespace") {
  const auto word = of({"logs", "--context", "prod", "-n", "ml", "--rank", "3", "b"});
  CHECK(word.kind == CompletedKind::kJobs);
  CHECK(word.ns == "ml");
  CHECK(word.connect.context == "prod");
  // Split as by bash and, in the second case, as by other shells.
  CHECK(of({"logs", "--namespace", "=", "ml", "b"}).ns == "ml");
  CHECK(of({"logs", "--namespace=ml", "b"}).ns == "ml");
  const auto slashed = of({"logs", "vision/be"});
  CHECK(slashed.ns == "vision");
  CHECK(slashed.prefix == "vision/");
  CHECK(slashed.begin == "be");
}

TEST_CASE("The word after a flag is completed as its value") {
  CHECK(of({"logs", "-n", "m"}).kind == CompletedKind::kNamespaces);
  CHECK(of({"logs", "--namespace", "="}).kind == CompletedKind::kNamespaces);
  CHECK(of({"logs", "--namespace", "="}).begin.empty());
  CHECK(of({"logs", "--namespace=m"}).prefix == "--namespace=");
  CHECK(of({"logs", "--namespace=m"}).begin == "m");
  CHECK(of({"logs", "--rank", ""}).kind == CompletedKind::kNothing);
  CHECK(completedNames(of({"logs", "-o", ""})) == "table\njson\nyaml\nname\n");
  CHECK(completedNames(of({"logs", "-o", "j"})) == "json\n");
}

}  // namespace
}  // namespace trainyard::cli
