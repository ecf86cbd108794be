#pragma once

#include <memory>

#include "core/guard/guard_view.h"
#include "devices/asked_devices.h"

namespace trainyard::extender {

// What one answer to kube-scheduler rests on: both parts are of one moment.
struct ClusterFacts {
  std::shared_ptr<const core::GuardView> view;
  std::shared_ptr<const devices::DeviceFacts> devices;  // null: the cluster has no devices
};

}  // namespace trainyard::extender
