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
  if (!lost_ && now - lastContact_ >= kLostAfter) {
    lost_ = true;
    listener_.lost();
  }
  if (!probing_ && now >= nextProbe_) probe();
  timer_ = executor_.postAfter(kTick, [this] { tick(); });
}

void ApiContact::probe() {
  probing_ = true;
  nextProbe_ = executor_.now() + kBetweenProbes;
  kube::ApiRequest request{.path = "/version"};
  request.timeout = kBetweenProbes;
  api_.request(std::move(request), [this, alive = alive_](const base::Result<kube::ApiResponse>& answer) {
    if (!*alive) return;
    probing_ = false;
    if (answer) answered();
  });
}

void ApiContact::answered() {
  lastContact_ = executor_.now();
  if (!std::exchange(lost_, false)) return;
  listener_.regained();
}

}  // namespace trainyard::extender
