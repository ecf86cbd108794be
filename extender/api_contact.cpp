#include "extender/api_contact.h"

#include <utility>

namespace trainyard::extender {
namespace {

constexpr std::chrono::seconds kTick{1};

}  // namespace

ApiContact::ApiContact(kube::ApiClient& api, base::Executor& executor, Listener listener)
    : api_(api), executor_(executor), listener_(std::move(listener)) {}

ApiContact::~ApiContact() {
  *alive_ = false;
  executor_.cancel(timer_);
}

void ApiContact::start() {
  lastContact_ = executor_.now();
  nextProbe_ = lastContact_ + kBetweenProbes;
  timer_ = executor_.postAfter(kTick, [this] { tick(); });
}

void ApiContact::tick() {
  const base::Instant now = executor_.now();
  const bool away = now - lastContact_ >= kLostAfter;
  const bool lost = away || isDisconnected();
  const bool before = std::exchange(lost_, lost);
  if (lost && !before)
    listener_.lost(away ? "the API server cannot be reached" : "a watch of the API server is silent");
  if (before && !lost) listener_.regained();
  if (!probing_ && now >= nextProbe_) probe();
  timer_ = executor_.postAfter(kTick, [this] { tick(); });
}

bool ApiContact::isDisconnected() const {
  const auto lastContact = listener_.lastContact();
  return lastContact && executor_.now() - *lastContact >= kDisconnectedAfter;
}

void ApiContact::probe() {
  probing_ = true;
  nextProbe_ = executor_.now() + kBetweenProbes;
  kube::ApiRequest request{.path = "/version"};
  request.timeout = kBetweenProbes;
  api_.request(std::move(request), [this, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
    if (!*alive) return;
    probing_ = false;
    if (answer) lastContact_ = executor_.now();
  });
}

}  // namespace trainyard::extender
