#include "core/lifecycle/lagging_member.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/lifecycle/classify.h"
#include "core/lifecycle/log_lines.h"

namespace trainyard::core {
namespace {

using model::Confidence;
using model::MemberEvidence;

// Returns the text after `mark`; empty if it does not occur.
std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
}

std::optional<std::int64_t> numberAt(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

// "PG GUID 0(default_pg)" is the same at all its members. Older PyTorch versions write only "PG 1".
std::string groupOf(std::string_view line) {
  if (const std::string_view guid = behind(line, "PG GUID "); !guid.empty())
    return std::string(guid.substr(0, guid.find(' ')));
  const std::string_view group = behind(line, "[PG ");
  return std::string(group.substr(0, group.find(" Rank")).substr(0, 32));
}

// ", last enqueued NCCL work: 1582, last completed", "last enqueued work: 811, ...".
std::optional<std::int64_t> enqueuedIn(std::string_view line) {
  const std::string_view rest = behind(line, "last enqueued ");
  const std::size_t colon = rest.substr(0, 24).find(": ");
  return colon == std::string_view::npos ? std::nullopt : numberAt(rest.substr(colon + 2));
}

// The least number of a member by process group: a member may run several ranks.
using Numbers = std::map<std::string, std::int64_t>;

struct Reported {
  Numbers enqueued;
  Numbers sequence;
  std::set<std::int64_t> ranks;   // its own ranks
  std::set<std::int64_t> absent;  // ranks that it reports as missing
};

void noteLeast(Numbers& numbers, const std::string& group, std::optional<std::int64_t> number) {
  if (!number) return;
  const auto [known, isNew] = numbers.try_emplace(group, *number);
  if (!isNew) known->second = std::min(known->second, *number);
}

void readRanks(std::string_view text, std::set<std::int64_t>& ranks) {
  while (const auto rank = numberAt(text)) {
    ranks.insert(*rank);
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
    if (!text.starts_with(", ")) return;
    text.remove_prefix(2);
  }
}

// Matches "Rank 3 failed to pass monitoredBarrier in 5000 ms", "Ranks 1, 2 failed to pass monitoredBarrier",
// and PyTorch's desync report "[2] finished collective #41, but didn't join collective #42".
void readAbsent(std::string_view line, std::set<std::int64_t>& absent) {
  if (const std::size_t at = line.find(" failed to pass monitoredBarrier"); at != std::string_view::npos) {
    const std::string_view before = line.substr(0, at);
    const std::size_t many = before.rfind("Ranks ");
    const std::size_t one = before.rfind("Rank ");
    if (many != std::string_view::npos) return readRanks(before.substr(many + 6), absent);
    if (one != std::string_view::npos) return readRanks(before.substr(one + 5), absent);
  }
  const bool left = line.find("didn't join collective") != std::string_view::npos ||
                    line.find("never joined any collectives") != std::string_view::npos;
  if (!left) return;
  // The brackets in front mark the writer of the line; the last pair lists the ranks.
  const std::size_t close = line.rfind(']');
  const std::size_t open = close == std::string_view::npos ? close : line.rfind('[', close);
  if (open != std::string_view::npos) readRanks(line.substr(open + 1), absent);
}

Reported read(const MemberEvidence& member) {
  Reported reported;
  std::string_view log = member.log;
  if (log.size() > kLogBytes) log.remove_prefix(log.size() - kLogBytes);
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, std::min(end, kLineBytes));
    log.remove_prefix(std::min(end + 1, log.size()));
    noteLeast(reported.enqueued, groupOf(line), enqueuedIn(line));
    if (line.find("collective operation timeout") != std::string_view::npos)
      noteLeast(reported.sequence, groupOf(line), numberAt(behind(line, "SeqNum=")));
    if (const auto rank = numberAt(behind(line.substr(0, 32), "[rank"))) reported.ranks.insert(*rank);
    readAbsent(line, reported.absent);
  }
  return reported;
}

// Returns the one rank that logs name as missing, if ranks are members: one process each.
std::optional<std::size_t> namedMember(const std::vector<Reported>& all) {
  std::set<std::int64_t> absent;
  for (std::size_t i = 0; i < all.size(); ++i) {
    absent.insert(all[i].absent.begin(), all[i].absent.end());
    const auto isOther = [&](std::int64_t rank) { return rank != static_cast<std::int64_t>(i); };
    if (std::any_of(all[i].ranks.begin(), all[i].ranks.end(), isOther)) return std::nullopt;
  }
  if (absent.size() != 1 || *absent.begin() >= static_cast<std::int64_t>(all.size())) return std::nullopt;
  return static_cast<std::size_t>(*absent.begin());
}

struct Behind {
  std::size_t member = 0;
  std::int64_t own = 0;
  std::int64_t others = 0;
};

// Returns the member with a smaller number than all others of the same group; nullopt if two groups point to
// different members.
std::optional<Behind> behindOthers(const std::vector<Reported>& all, Numbers Reported::* numbers) {
  std::map<std::string, std::vector<std::pair<std::int64_t, std::size_t>>> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& [group, number] : all[i].*numbers) groups[group].emplace_back(number, i);
  }
  std::optional<Behind> found;
  for (auto& [group, members] : groups) {
    std::sort(members.begin(), members.end());
    if (members.size() < 2 || members[0].first == members[1].first) continue;
    if (found && found->member != members[0].second) return std::nullopt;
    found = Behind{members[0].second, members[0].first, members[1].first};
  }
  return found;
}

bool reportsTimeOut(const MemberVerdict& verdict, const RuleBook& book) {
  return verdict.rule >= 0 && verdict.fromLog &&
         book.rules()[static_cast<std::size_t>(verdict.rule)].failure ==
             model::FailureClass::kCollectiveTimeout;
}

// Returns true if the member still runs or was ended, and its log shows no failure.
bool isSilent(const MemberVerdict& verdict) {
  if (verdict.state == MemberVerdict::State::kEndedWell) return false;
  return verdict.rule < 0 || !verdict.fromLog;
}

std::optional<std::size_t> onlySilent(std::span<const MemberVerdict> verdicts, const RuleBook& book) {
  std::optional<std::size_t> silent;
  bool anyReports = false;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    anyReports = anyReports || reportsTimeOut(verdicts[i], book);
    if (!isSilent(verdicts[i])) continue;
    if (silent) return std::nullopt;
    silent = i;
  }
  return anyReports ? silent : std::nullopt;
}

}  // namespace

std::optional<Laggard> laggingMember(std::span<const MemberEvidence> members,
                                     std::span<const MemberVerdict> verdicts, const RuleBook& book) {
  std::vector<Reported> all;
  all.reserve(members.size());
  for (const MemberEvidence& each : members) all.push_back(read(each));
  if (const auto named = namedMember(all))
    return Laggard{*named, Confidence::kHigh,
                   fmt::format("{} did not join the operation", memberName(members[*named]))};
  auto least = behindOthers(all, &Reported::enqueued);
  if (least)
    return Laggard{least->member, Confidence::kHigh,
                   fmt::format("{} is behind: it enqueued {} collective operations, the others {} or more",
                               memberName(members[least->member]), least->own, least->others)};
  least = behindOthers(all, &Reported::sequence);
  if (least)
    return Laggard{least->member, Confidence::kMedium,
                   fmt::format("{} is behind: it waits in collective operation {}, the others in {} or later",
                               memberName(members[least->member]), least->own, least->others)};
  if (const auto silent = onlySilent(verdicts, book))
    return Laggard{
        *silent, members[*silent].log.empty() ? Confidence::kLow : Confidence::kMedium,
        fmt::format("{} is the only member that reports no time-out", memberName(members[*silent]))};
  return std::nullopt;
}

}  // namespace trainyard::core
