#include "scenario/scenario_outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/ledger/domains.h"

namespace trainyard::test {
namespace {

bool hasSentence(const Expectation& expectation) {
  return expectation.head.rfind("waits", 0) == 0 || expectation.head.rfind("ended", 0) == 0 ||
         expectation.head.rfind("has event", 0) == 0 || expectation.head.rfind("has condition", 0) == 0;
}

std::vector<std::string> textOf(const Expectation& expectation) {
  std::vector<std::string> lines = {fmt::format("expect {} {}", expectation.subject, expectation.head)};
  if (hasSentence(expectation)) {
    std::string sentence;
    for (const std::string& part : expectation.body) sentence += (sentence.empty() ? "" : " ") + part;
    if (!sentence.empty()) lines.push_back("  " + sentence);
    return lines;
  }
  for (const std::string& line : expectation.body) lines.push_back("  " + line);
  return lines;
}

// Returns true if `text` matches `pattern`: "..." stands for any text, with or without blanks around it.
bool matches(std::string_view text, std::string_view pattern) {
  constexpr std::string_view kAnything = "...";
  const std::size_t gap = pattern.find(kAnything);
  if (gap == std::string_view::npos) return text == pattern;
  const std::string_view before = trimmed(pattern.substr(0, gap));
  if (text.substr(0, before.size()) != before) return false;
  text.remove_prefix(before.size());
  const std::string_view rest = trimmed(pattern.substr(gap + kAnything.size()));
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (matches(text.substr(at), rest)) return true;
  }
  return false;
}

}  // namespace

std::string tightest(const std::vector<model::NodeName>& nodes, const model::Snapshot& snapshot) {
  const core::Domains domains(snapshot.nodes, snapshot.policy.topology);
  std::map<model::NodeName, std::uint32_t> positions;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i)
    positions.emplace(snapshot.nodes[i]->name, domains.positionOf(i));
  std::uint32_t first = UINT32_MAX;
  std::uint32_t last = 0;
  for (const model::NodeName& node : nodes) {
    const auto found = positions.find(node);
    if (found == positions.end()) return "nodes that are gone";
    first = std::min(first, found->second);
    last = std::max(last, found->second);
  }
  for (std::size_t level = domains.nodeLevel(); level > 0; --level) {
    if (domains.domainOf(level, first).end <= last) continue;
    return fmt::format("{} {}", domains.levels()[level].name, domains.path(level, first));
  }
  return "the cluster";
}

std::vector<std::string> linesOf(const std::vector<model::Assignment>& assignments) {
  std::vector<std::string> lines;
  for (const model::Assignment& each : assignments)
    lines.push_back(fmt::format("{} {} on {}", each.role, each.indices.str(), each.node));
  return lines;
}

bool agrees(const Expectation& expected, const Expectation& actual) {
  const std::vector<std::string> wanted = textOf(expected);
  const std::vector<std::string> got = textOf(actual);
  if (wanted == got) return true;
  if (wanted.front() != got.front() || !hasSentence(expected)) return false;
  return expected.body.empty() || (got.size() == 2 && matches(trimmed(got[1]), trimmed(wanted[1])));
}

bool compare(const Expectation& expected, const Expectation& actual) {
  if (agrees(expected, actual)) return true;
  const std::vector<std::string> wanted = textOf(expected);
  const std::vector<std::string> got = textOf(actual);
  for (const std::string& line : wanted) {
    const bool same = std::find(got.begin(), got.end(), line) != got.end();
    fmt::print("  {} {}\n", same ? " " : "-", line);
  }
  for (const std::string& line : got) {
    if (std::find(wanted.begin(), wanted.end(), line) == wanted.end()) fmt::print("  + {}\n", line);
  }
  return false;
}

}  // namespace trainyard::test
