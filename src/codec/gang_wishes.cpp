#include "codec/gang_wishes.h"

#include <chrono>
#include <optional>

#include "codec/duration.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

constexpr std::string_view kLocality = "trainyard.dev/locality";
constexpr std::string_view kPreemptible = "trainyard.dev/preemptible";
constexpr std::string_view kEstimate = "trainyard.dev/estimated-duration";

bool mayBePreempted(const Field& field) {
  const std::string_view text = field.text("true");
  if (text != "true" && text != "false") field.refuse(R"(must be "true" or "false")");
  return text != "false";
}

std::optional<std::int64_t> estimatedSeconds(const Field& field) {
  if (!field.present()) return std::nullopt;
  const auto duration = parseDuration(field.text());
  if (!duration || *duration < std::chrono::seconds(1)) {
    field.refuse(R"(must be a duration of at least a second, such as "6h" or "90m")");
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

}  // namespace

void writeGangWishes(const Field& metadata, const Field& podSpec, JsonWriter& out) {
  const Field annotations = metadata["annotations"];
  const std::string_view queue = metadata["labels"][model::names::kQueueLabel].text();
  if (!queue.empty()) out.member("queue", queue);
  const std::string_view priorityClass = podSpec["priorityClassName"].text();
  if (!priorityClass.empty()) out.member("priorityClassName", priorityClass);
  out.memberBool("preemptible", mayBePreempted(annotations[kPreemptible]));
  const std::string_view locality = annotations[kLocality].text();
  if (!locality.empty()) out.key("locality").beginObject().member("required", locality).endObject();
  if (const auto seconds = estimatedSeconds(annotations[kEstimate]))
    out.key("estimate").beginObject().member("durationSeconds", *seconds).endObject();
}

}  // namespace trainyard::codec
