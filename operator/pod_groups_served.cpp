#include "operator/pod_groups_served.h"

#include <utility>

#include "codec/pod_group.h"

namespace trainyard::operator_ {
namespace {

// It changes when an administrator restarts the API server with another option.
constexpr std::chrono::minutes kAskAgain{10};

}  // namespace

void PodGroupsServed::start() {
  if (!std::exchange(started_, true)) ask();
}

void PodGroupsServed::ask() {
  deps_.api.get("/apis/scheduling.k8s.io", [this, alive = alive_](const auto& answer) {
    if (!*alive) return;
    answered(answer);
    deps_.executor.postAfter(kAskAgain, [this, alive] {
      if (*alive) ask();
    });
  });
}

// What is known stays until there is an answer.
void PodGroupsServed::answered(const base::Result<kube::ApiResponse>& answer) {
  if (!answer) return;
  if (auto version = codec::podGroupVersion(answer->body)) version_ = *std::move(version);
}

}  // namespace trainyard::operator_
