#include "kube/path_access.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace trainyard::kube {

using base::ErrorCode;

PathAccess::PathAccess(ApiClient& api, base::Executor& executor, std::string path)
    : api_(api), executor_(executor), path_(std::move(path)), unknownTokens_(kUnknownTokenRate, executor) {}

PathAccess::~PathAccess() {
  *alive_ = false;
  for (const auto& [token, entry] : entries_) {
    for (const auto& waiter : entry->waiters) executor_.cancel(waiter->patience);
  }
}

std::optional<PathAccess::Verdict> PathAccess::remembered(const std::string& token) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(token);
  if (found == entries_.end() || executor_.now() >= found->second->until) return std::nullopt;
  found->second->used = executor_.now();
  return found->second->verdict;
}

void PathAccess::check(const std::string& token, std::function<bool()> gone, Done done) {
  if (const auto known = remembered(token)) return done(*known);
  const EntryPtr entry = entryOf(token);
  if (!entry) return done(base::fail(ErrorCode::kThrottled, "too many tokens are being checked at once"));
  wait(entry, std::move(gone), std::move(done));
  if (std::exchange(entry->asking, true)) return;
  if (entry->good) return ask(entry);
  unknownTokens_.acquire([this, entry] { turn(entry); });
}

PathAccess::EntryPtr PathAccess::entryOf(const std::string& token) {
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(token); found != entries_.end()) {
    found->second->used = executor_.now();
    return found->second;
  }
  if (entries_.size() >= kMaxTokens && !evictOne()) return nullptr;
  auto entry = std::make_shared<Entry>(Entry{.token = token, .used = executor_.now()});
  entries_.emplace(token, entry);
  return entry;
}

// An accepted token stays while it is in use; otherwise tokens under review could fill the whole table.
bool PathAccess::evictOne() {
  const base::Instant now = executor_.now();
  const auto stays = [&](const Entry& entry) {
    return entry.asking || (entry.good && now - entry.used < kGoodStays);
  };
  auto leaves = entries_.end();
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    if (stays(*each->second)) continue;
    if (leaves == entries_.end() || each->second->used < leaves->second->used) leaves = each;
  }
  if (leaves == entries_.end()) return false;
  entries_.erase(leaves);
  return true;
}

void PathAccess::wait(const EntryPtr& entry, std::function<bool()> gone, Done done) {
  auto waiter = std::make_shared<Waiter>(Waiter{std::move(gone), std::move(done)});
  waiter->patience = executor_.postAfter(kPatience, [entry, waiter] {
    std::erase(entry->waiters, waiter);
    waiter->done(base::fail(ErrorCode::kUnavailable, "the API server did not check the token in time"));
  });
  entry->waiters.push_back(std::move(waiter));
}

// Drops waiters after their connections are gone; without waiters, no review is sent.
void PathAccess::turn(const EntryPtr& entry) {
  std::erase_if(entry->waiters, [&](const auto& each) {
    const bool gone = each->gone();
    if (gone) executor_.cancel(each->patience);
    return gone;
  });
  if (!entry->waiters.empty()) return ask(entry);
  const std::lock_guard lock(mutex_);
  entries_.erase(entry->token);
}

void PathAccess::ask(const EntryPtr& entry) {
  reviewToken(api_, entry->token, [this, entry, alive = alive_](base::Result<TokenOwner> owner) {
    if (!*alive) return;
    if (!owner) return take(entry, base::fail(owner.error()));
    if (!owner->known)
      return take(entry, base::fail(ErrorCode::kUnauthorized, "the API server does not accept this token"));
    const AccessQuestion question{.verb = "get", .path = path_};
    reviewAccess(api_, *owner, question, [this, entry, user = owner->user, alive](base::Result<bool> may) {
      if (!*alive) return;
      if (!may) return take(entry, base::fail(may.error()));
      if (!*may)
        return take(entry, base::fail(ErrorCode::kForbidden, fmt::format("{} may not get {}", user, path_)));
      take(entry, {});
    });
  });
}

// A failed review is repeated for the next request, and does not change the state of an accepted token.
void PathAccess::take(const EntryPtr& entry, const Verdict& verdict) {
  const bool refused = !verdict && (verdict.error().code == ErrorCode::kUnauthorized ||
                                    verdict.error().code == ErrorCode::kForbidden);
  {
    const std::lock_guard lock(mutex_);
    entry->asking = false;
    entry->verdict = verdict;
    if (verdict || refused) {
      entry->good = verdict.has_value();
      entry->until = executor_.now() + (refused ? base::Instant::duration(kNoLives) : kYesLives);
    }
  }
  for (const auto& waiter : std::exchange(entry->waiters, {})) {
    executor_.cancel(waiter->patience);
    waiter->done(verdict);
  }
}

}  // namespace trainyard::kube
