#include "cli/completed_names.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "codec/json_value.h"
#include "kube/paths.h"

namespace trainyard::cli {
namespace {

constexpr std::chrono::seconds kDeadline{2};
// No user reads a longer list, and each item is a whole object.
constexpr const char* kMax = "500";

using Words = std::vector<std::string>;

bool isOneOf(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

CompletedKind kindOfOption(const std::string& option) {
  if (option == "-n" || option == "--namespace") return CompletedKind::kNamespaces;
  if (option == "--for") return CompletedKind::kStates;
  return option == "-o" || option == "--output" ? CompletedKind::kForms : CompletedKind::kNothing;
}

CompletedKind kindOfPositional(std::string_view name) {
  if (name == "JOB") return CompletedKind::kJobs;
  if (name == "QUEUE") return CompletedKind::kQueues;
  return name == "NODE" ? CompletedKind::kNodes : CompletedKind::kNothing;
}

void note(const std::string& option, const std::string& value, CompletedWord& word) {
  if (option == "-n" || option == "--namespace") word.ns = value;
  if (option == "--kubeconfig") word.connect.kubeconfig = value;
  if (option == "--context") word.connect.context = value;
  if (option == "--as") word.connect.as = value;
}

// Splits "--namespace=ml" into two texts; bash passes it as three.
Words split(const Words& words) {
  Words out;
  for (const std::string& each : words) {
    const auto equals = each.find('=');
    if (each == "=") continue;
    if (!each.starts_with("--") || equals == std::string::npos) {
      out.push_back(each);
    } else {
      out.push_back(each.substr(0, equals));
      out.push_back(each.substr(equals + 1));
    }
  }
  if (!words.empty() && words.back() == "=") out.emplace_back();
  return out;
}

std::string collectionOf(const CompletedWord& word, const std::string& ns) {
  switch (word.kind) {
    case CompletedKind::kJobs: return kube::kTrainingJobs.collection(ns);
    case CompletedKind::kQueues: return kube::kQueues.collection();
    case CompletedKind::kNodes: return kube::kNodes.collection();
    default: return kube::kNamespaces.collection();
  }
}

Words namesFrom(std::string_view list) {
  Words names;
  const auto document = codec::JsonDocument::parse(list);
  if (!document) return names;
  document->root().find("items").forEachElement([&](const codec::JsonValue& each) {
    names.emplace_back(each.find("metadata").find("name").string().value_or(""));
  });
  return names;
}

Words candidates(const CompletedWord& word) {
  if (word.kind == CompletedKind::kNothing) return {};
  if (word.kind == CompletedKind::kForms) return {"table", "json", "yaml", "name"};
  if (word.kind == CompletedKind::kStates)
    return {"Admitted", "Failed",    "Finished",  "Queued",   "Ready",
            "Running",  "Scheduled", "Succeeded", "Suspended"};
  const auto client = ClusterClient::connect(word.connect);
  if (!client) return {};
  (*client)->hurry(kDeadline);
  const std::string& ns = word.ns.empty() ? (*client)->ns() : word.ns;
  const auto list = (*client)->read(collectionOf(word, ns), {{"limit", kMax}});
  return list ? namesFrom(*list) : Words{};
}

}  // namespace

CompletedWord completedWord(const Words& words, const std::vector<CompletedCommand>& commands) {
  CompletedWord result;
  if (words.size() < 2) return result;
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const auto& each) { return each.name == words[0]; });
  if (command == commands.end()) return result;
  const Words line = split(words);
  result.begin = line.back();
  // If bash passes flag and value as one text, the candidate replaces both.
  if (const std::string& last = words.back(); last != "=" && last != line.back())
    result.prefix = last.substr(0, last.size() - line.back().size());
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    if (!isOneOf(line[i], command->valued)) continue;
    if (i + 2 == line.size()) {
      result.kind = kindOfOption(line[i]);
      return result;
    }
    note(line[i], line[i + 1], result);
    ++i;
  }
  if (result.begin.starts_with('-')) return result;
  result.kind = kindOfPositional(command->positional);
  const auto slash = result.begin.find('/');
  if (result.kind != CompletedKind::kJobs || slash == std::string::npos) return result;
  result.ns = result.begin.substr(0, slash);
  result.prefix = result.begin.substr(0, slash + 1);
  result.begin.erase(0, slash + 1);
  return result;
}

std::string completedNames(const CompletedWord& word) {
  std::string out;
  for (const std::string& each : candidates(word)) {
    if (each.starts_with(word.begin)) out += fmt::format("{}{}\n", word.prefix, each);
  }
  return out;
}

std::string completedLine(const Words& words, const std::vector<CompletedCommand>& commands) {
  Words found;
  if (words.size() < 2) {
    for (const CompletedCommand& each : commands) found.push_back(each.name);
  } else if (words.back().starts_with('-') && words.back().find('=') == std::string::npos) {
    for (const CompletedCommand& each : commands) {
      if (each.name == words.front()) found = each.options;
    }
  } else {
    return completedNames(completedWord(words, commands));
  }
  std::string out;
  for (const std::string& each : found) {
    if (words.empty() || each.starts_with(words.back())) out += each + "\n";
  }
  return out;
}

std::string nearestWord(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kNear = 2;
  std::string nearest;
  std::size_t least = std::min(kNear, word.size() / 2) + 1;
  for (const std::string& name : names) {
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < least) {
      least = row.back();
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace trainyard::cli
