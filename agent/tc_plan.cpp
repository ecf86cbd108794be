#include "agent/tc_plan.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace trainyard::agent {
namespace {

// The lowest guaranteed rate of a class (100 kbit/s), as in the paper.
constexpr std::uint64_t kMinRate = 12'500;

const FoundClass* findClass(const FoundLink& found, std::uint16_t minor) {
  const auto at = std::find_if(found.classes.begin(), found.classes.end(),
                               [&](const FoundClass& each) { return each.shape.minor == minor; });
  return at == found.classes.end() ? nullptr : &*at;
}

bool ofJobs(std::uint16_t minor) { return minor >= kFirstJobClass && minor <= kLastJobClass; }

class ChangeMaker {
 public:
  ChangeMaker(const WantedLink& wanted, const FoundLink& found) : wanted_(wanted), found_(found) {}

  TcChanges make() {
    if (found_.root == RootOwner::kForeign) {
      out_.foreign = true;
      return std::move(out_);
    }
    if (wanted_.classes.empty()) {
      takeDown();
      return std::move(out_);
    }
    if (found_.root == RootOwner::kOurs && found_.defaultMinor != kOthersClass) {
      // An htb qdisc cannot change its default class: remove the qdisc now, and add it on the next call.
      add(RemoveQdisc{});
      out_.waiting = true;
      return std::move(out_);
    }
    if (found_.root == RootOwner::kDefault) add(AddQdisc{});
    dropMisplaced();
    for (const TcClass& each : wanted_.classes) setClass(each);
    setFilters();
    dropOldClasses();
    return std::move(out_);
  }

 private:
  void add(TcChange change) { out_.changes.push_back(std::move(change)); }

  void takeDown() {
    if (found_.root != RootOwner::kOurs) return;
    for (const FoundFilter& each : found_.filters) remove(each);
    const bool drained = std::all_of(found_.classes.begin(), found_.classes.end(),
                                     [](const FoundClass& each) { return each.waitingPackets == 0; });
    if (drained) {
      add(RemoveQdisc{});
    } else {
      out_.waiting = true;
    }
  }

  void remove(const FoundFilter& each) { add(RemoveFilter{each.handle, each.priority, each.v6}); }

  // A class cannot change its parent. If another program moved a class, it is removed and added again.
  void dropMisplaced() {
    for (const TcClass& each : wanted_.classes) {
      const FoundClass* there = findClass(found_, each.minor);
      if (there == nullptr || there->shape.parentMinor == each.parentMinor) continue;
      for (const FoundFilter& filter : found_.filters) {
        if (filter.filter && filter.filter->minor == each.minor && gone_.insert(filter.handle).second)
          remove(filter);
      }
      // The kernel refuses while the class has children; the change is then repeated at the next look.
      add(RemoveClass{each.minor});
      misplaced_.insert(each.minor);
    }
  }

  void setClass(const TcClass& wanted) {
    const FoundClass* there = misplaced_.contains(wanted.minor) ? nullptr : findClass(found_, wanted.minor);
    if (there == nullptr || there->shape != wanted) add(SetClass{wanted, there != nullptr});
  }

  void setFilters() {
    std::map<FlowKey, std::uint16_t> missing;
    for (const TcFilter& each : wanted_.filters) missing.emplace(each.flow, each.minor);
    for (const FoundFilter& each : found_.filters) {
      if (gone_.contains(each.handle)) continue;
      const auto wanted = each.filter ? missing.find(each.filter->flow) : missing.end();
      if (wanted == missing.end()) {
        remove(each);  // its pod is gone, another program wrote it, or it is a duplicate
        continue;
      }
      if (wanted->second != each.filter->minor) add(MoveFilter{each.handle, {wanted->first, wanted->second}});
      missing.erase(wanted);
    }
    for (const auto& [flow, minor] : missing) add(AddFilter{{flow, minor}});
  }

  void dropOldClasses() {
    for (const FoundClass& each : found_.classes) {
      const std::uint16_t minor = each.shape.minor;
      const bool kept = std::any_of(wanted_.classes.begin(), wanted_.classes.end(),
                                    [&](const TcClass& wanted) { return wanted.minor == minor; });
      if (kept) continue;
      if (each.waitingPackets == 0) {
        add(RemoveClass{minor});
      } else {
        out_.waiting = true;
      }
    }
  }

  const WantedLink& wanted_;
  const FoundLink& found_;
  TcChanges out_;
  std::set<std::uint32_t> gone_;
  std::set<std::uint16_t> misplaced_;
};

std::string text(const FlowKey& flow) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  inet_ntop(flow.source.v6 ? AF_INET6 : AF_INET, flow.source.bytes.data(), buffer.data(), buffer.size());
  return flow.sourcePort == 0 ? std::string(buffer.data())
                              : fmt::format("{} port {}", buffer.data(), flow.sourcePort);
}

struct Describer {
  std::string operator()(const AddQdisc& /*change*/) const { return fmt::format("add qdisc {:x}:", kMajor); }
  std::string operator()(const RemoveQdisc& /*change*/) const {
    return fmt::format("remove qdisc {:x}:", kMajor);
  }
  std::string operator()(const SetClass& change) const {
    return fmt::format("{} class {:x}:{:x} band {} rate {} B/s", change.exists ? "change" : "add", kMajor,
                       change.shape.minor, change.shape.band, change.shape.rate);
  }
  std::string operator()(const RemoveClass& change) const {
    return fmt::format("remove class {:x}:{:x}", kMajor, change.minor);
  }
  std::string operator()(const AddFilter& change) const {
    return fmt::format("add filter {} to class {:x}:{:x}", text(change.filter.flow), kMajor,
                       change.filter.minor);
  }
  std::string operator()(const MoveFilter& change) const {
    return fmt::format("move filter {} to class {:x}:{:x}", text(change.filter.flow), kMajor,
                       change.filter.minor);
  }
  std::string operator()(const RemoveFilter& change) const {
    return fmt::format("remove filter {:x}", change.handle);
  }
};

}  // namespace

std::optional<IpAddress> parseIpAddress(const std::string& text) {
  IpAddress address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  address.v6 = true;
  address.bytes.fill(0);
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::vector<std::uint16_t> classesFor(const std::vector<JobTraffic>& jobs, const FoundLink& found) {
  std::map<FlowKey, std::uint16_t> leads;
  for (const FoundFilter& each : found.filters) {
    if (each.filter && ofJobs(each.filter->minor)) leads.emplace(each.filter->flow, each.filter->minor);
  }
  std::set<std::uint16_t> taken;
  std::vector<std::uint16_t> classes(jobs.size(), 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const FlowKey& flow : jobs[i].flows) {
      const auto known = leads.find(flow);
      if (known == leads.end() || !taken.insert(known->second).second) continue;
      classes[i] = known->second;
      break;
    }
  }
  for (const FoundClass& each : found.classes) taken.insert(each.shape.minor);
  std::uint16_t next = kFirstJobClass;
  for (std::uint16_t& each : classes) {
    if (each != 0) continue;
    while (taken.contains(next) && next < kLastJobClass) ++next;
    taken.insert(next);
    each = next;
  }
  return classes;
}

WantedLink wantedLink(const std::vector<JobTraffic>& jobs, const core::BandPlan& bands,
                      const FoundLink& found, const LinkSettings& settings) {
  WantedLink wanted;
  if (jobs.empty()) return wanted;
  const std::uint64_t link = settings.bytesPerSecond;
  const std::uint64_t others =
      std::max(kMinRate, link / 1'000 * static_cast<std::uint64_t>(settings.othersPermille));
  const std::uint64_t share = (link - std::min(link, others)) / jobs.size();
  const std::uint64_t rate =
      std::max(kMinRate, share / 1'000 * static_cast<std::uint64_t>(bands.guaranteedPermille));
  wanted.classes.push_back({.minor = kLinkClass, .parentMinor = 0, .band = 0, .rate = link, .ceil = link});
  wanted.classes.push_back(
      {.minor = kOthersClass, .parentMinor = kLinkClass, .band = core::kBands, .rate = others, .ceil = link});
  const auto minors = classesFor(jobs, found);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto band = std::find_if(bands.bands.begin(), bands.bands.end(),
                                   [&](const core::JobBand& each) { return each.uid == jobs[i].uid; });
    const int place = band == bands.bands.end() ? core::kBands - 1 : band->band;
    wanted.classes.push_back({.minor = minors[i],
                              .parentMinor = kLinkClass,
                              .band = static_cast<std::uint32_t>(place),
                              .rate = rate,
                              .ceil = link});
    for (const FlowKey& flow : jobs[i].flows) wanted.filters.push_back({flow, minors[i]});
  }
  std::sort(wanted.filters.begin(), wanted.filters.end());
  return wanted;
}

TcChanges planChanges(const WantedLink& wanted, const FoundLink& found) {
  return ChangeMaker(wanted, found).make();
}

std::string describe(const TcChange& change) { return std::visit(Describer{}, change); }

}  // namespace trainyard::agent
