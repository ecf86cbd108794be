#include "operator/console/redacted.h"

#include <memory>
#include <string>
#include <utility>

namespace trainyard::operator_::console {
namespace {

void hide(model::ObjectKey& key, const Viewer& viewer) {
  if (!viewer.sees(key.ns)) key = {"", std::string(kAnother)};
}

void hide(core::Forecast::Stop& stop, const Viewer& viewer) {
  if (viewer.sees(stop.job->key.ns)) return;
  auto hiddenJob = std::make_shared<model::Job>();
  hiddenJob->key = stop.job->key;
  hide(hiddenJob->key, viewer);
  hiddenJob->status.gpus = stop.job->status.gpus;
  stop.job = std::move(hiddenJob);
}

}  // namespace

core::Forecast redacted(core::Forecast forecast, const Viewer& viewer, const Names& known) {
  for (core::Forecast::Stop& each : forecast.stops) hide(each, viewer);
  if (forecast.pending) {
    forecast.pending->message = withoutOthers(forecast.pending->message, viewer, known);
    for (model::Blocker& each : forecast.pending->blockedBy) hide(each.job, viewer);
  }
  if (!forecast.expected) return forecast;
  for (core::Expectation::End& each : forecast.expected->after) hide(each.job, viewer);
  for (model::ObjectKey& each : forecast.expected->stops) hide(each, viewer);
  for (model::ObjectKey& each : forecast.expected->moves) hide(each, viewer);
  return forecast;
}

}  // namespace trainyard::operator_::console
