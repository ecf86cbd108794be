#include "cli/classify.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/table.h"
#include "codec/json_writer.h"

namespace trainyard::cli {
namespace {

using core::Classification;
using model::FailureClass;

std::string rootOf(const ClassifiedCase& each) {
  return each.found.root ? core::memberName(each.given.members[*each.found.root]) : std::string();
}

std::string_view confidenceName(model::Confidence confidence) {
  switch (confidence) {
    case model::Confidence::kHigh: return "High";
    case model::Confidence::kMedium: return "Medium";
    case model::Confidence::kLow: break;
  }
  return "Low";
}

std::string thousandths(int number) { return fmt::format("{}.{:03}", number / 1000, number % 1000); }

struct Counts {
  int right = 0;
  int missed = 0;  // cases of the class that were classified as another one
  int wrong = 0;   // cases of other classes that were classified as this one
};

// F1 in thousandths: 2·right / (2·right + missed + wrong).
int f1(const Counts& counts) {
  const int all = 2 * counts.right + counts.missed + counts.wrong;
  return all == 0 ? 0 : 2'000 * counts.right / all;
}

}  // namespace

std::string classifyTable(const std::vector<ClassifiedCase>& cases) {
  std::vector<std::vector<std::string>> rows = {
      {"CASE", "CLASS", "ROOT", "ACTION", "RULE", "CONFIDENCE", "LINE"}};
  for (const ClassifiedCase& each : cases) {
    const Classification& found = each.found;
    rows.push_back({each.given.name, std::string(toString(found.failure)), rootOf(each),
                    std::string(toString(found.action)), found.rule,
                    std::string(confidenceName(found.confidence)), found.line});
  }
  return formatTable(rows);
}

std::string classifyJson(const std::vector<ClassifiedCase>& cases) {
  codec::JsonWriter json;
  json.beginArray();
  for (const ClassifiedCase& each : cases) {
    const Classification& found = each.found;
    json.beginObject()
        .member("name", each.given.name)
        .member("class", toString(found.failure))
        .member("party", toString(model::partyOf(found.failure)))
        .member("action", toString(found.action))
        .member("rootMember", rootOf(each))
        .member("rule", found.rule)
        .member("confidence", confidenceName(found.confidence))
        .member("note", found.note)
        .member("line", found.line)
        .endObject();
  }
  json.endArray();
  return std::move(json).take() + "\n";
}

ClassifyScore scoreCases(const std::vector<ClassifiedCase>& cases) {
  std::map<FailureClass, Counts> classes;
  int checked = 0;
  int right = 0;
  int roots = 0;
  int rootsRight = 0;
  std::vector<std::vector<std::string>> mistakes;
  for (const ClassifiedCase& each : cases) {
    if (!each.given.expect) continue;
    const codec::ExpectedFailure& expect = *each.given.expect;
    ++checked;
    const bool hit = expect.failure == each.found.failure;
    right += hit ? 1 : 0;
    if (hit) {
      ++classes[expect.failure].right;
    } else {
      ++classes[expect.failure].missed;
      ++classes[each.found.failure].wrong;
    }
    const bool rootHit = expect.rootMember.empty() || expect.rootMember == rootOf(each);
    if (!expect.rootMember.empty()) {
      ++roots;
      rootsRight += rootHit ? 1 : 0;
    }
    if (hit && rootHit) continue;
    mistakes.push_back({each.given.name,
                        fmt::format("expected {} {}", toString(expect.failure), expect.rootMember),
                        fmt::format("found {} {}", toString(each.found.failure), rootOf(each)),
                        fmt::format("by {}", each.found.rule.empty() ? "nothing" : each.found.rule)});
  }
  ClassifyScore score;
  for (const auto& [failure, counts] : classes) score.macroF1 += f1(counts);
  if (!classes.empty()) score.macroF1 /= static_cast<int>(classes.size());
  score.roots = roots == 0 ? 1'000 : 1'000 * rootsRight / roots;
  score.text = formatTable(mistakes);
  for (const auto& [failure, counts] : classes) {
    if (f1(counts) < 1'000)
      score.text += fmt::format("{}: F1 {} ({} right, {} missed, {} wrongly)\n", toString(failure),
                                thousandths(f1(counts)), counts.right, counts.missed, counts.wrong);
  }
  score.text += fmt::format("{} of {} classes right, {} of {} roots; macro-F1 {} over {} classes\n", right,
                            checked, rootsRight, roots, thousandths(score.macroF1), classes.size());
  return score;
}

}  // namespace trainyard::cli
