#include "cli/timeline.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "codec/json_writer.h"

namespace trainyard::cli {
namespace {

using SortedJson = nlohmann::json;

struct Moment {
  std::string time;  // RFC 3339 in UTC: sorts as text
  std::string what;
  std::string text;
};

std::string textOf(const SortedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// People need only seconds, and the times of the API differ in their fractions.
std::string toSeconds(std::string time) {
  const auto dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + "Z";
}

// Conditions that repeat other conditions, for tools.
bool isSetByOthers(const SortedJson& condition) {
  const std::string type = textOf(condition, "type");
  return type == "Ready" || (type == "Stalled" && textOf(condition, "reason") == "Failed");
}

// A condition that turned false is left out, because a later entry shows it; a job that is not admitted is
// kept. A condition that an Event reports already is not repeated.
void addConditions(std::vector<Moment>& moments, const SortedJson& status) {
  const std::vector<Moment> events = moments;
  for (const SortedJson& each : status.value("conditions", SortedJson::array())) {
    const std::string type = textOf(each, "type");
    const std::string reason = textOf(each, "reason");
    const std::string message = textOf(each, "message");
    const bool holds = textOf(each, "status") == "True";
    if (isSetByOthers(each) || (!holds && type != "Admitted")) continue;
    const bool known = std::any_of(events.begin(), events.end(), [&](const Moment& event) {
      return event.what.starts_with(reason) && event.text == message && !message.empty();
    });
    if (known) continue;
    const std::string what = holds ? type : "not " + type;
    moments.push_back({textOf(each, "lastTransitionTime"),
                       reason.empty() || reason == type ? what : fmt::format("{} ({})", what, reason),
                       message});
  }
}

// Ignores Events of an earlier job with the same name.
void addEvents(std::vector<Moment>& moments, const SortedJson& events, const std::string& uid) {
  for (const SortedJson& each : events.value("items", SortedJson::array())) {
    const std::string about = textOf(each.value("involvedObject", SortedJson::object()), "uid");
    if (!uid.empty() && !about.empty() && about != uid) continue;
    std::string time = textOf(each, "eventTime");
    if (time.empty()) time = textOf(each, "firstTimestamp");
    int count = 1;
    if (const auto series = each.find("series"); series != each.end() && series->is_object())
      count = series->value("count", 1);
    const std::string times = count > 1 ? fmt::format(" ({} times)", count) : "";
    moments.push_back({toSeconds(std::move(time)), textOf(each, "reason") + times, textOf(each, "message")});
  }
}

struct Story {
  std::string ns;
  std::string name;
  std::vector<Moment> moments;
};

base::Result<Story> storyOf(const std::string& job, const std::string& events) {
  const SortedJson object = SortedJson::parse(job, nullptr, false);
  const SortedJson list = SortedJson::parse(events, nullptr, false);
  if (!object.is_object() || !list.is_object())
    return base::fail(base::ErrorCode::kInvalid, "the API server's answer is not a JSON object");
  const SortedJson meta = object.value("metadata", SortedJson::object());
  const SortedJson status = object.value("status", SortedJson::object());
  Story story{textOf(meta, "namespace"), textOf(meta, "name"), {}};
  story.moments.push_back({textOf(meta, "creationTimestamp"), "Created", ""});
  addEvents(story.moments, list, textOf(meta, "uid"));
  addConditions(story.moments, status);
  const SortedJson pending = status.value("pending", SortedJson::object());
  if (const auto start = textOf(pending, "estimatedStartTime"); !start.empty())
    story.moments.push_back({start, "expected start", textOf(pending, "message")});
  std::stable_sort(story.moments.begin(), story.moments.end(),
                   [](const Moment& a, const Moment& b) { return a.time < b.time; });
  return story;
}

}  // namespace

base::Result<std::string> timelineText(const std::string& job, const std::string& events) {
  auto story = storyOf(job, events);
  if (!story) return base::fail(story.error());
  std::vector<std::vector<std::string>> rows = {{"TIME", "WHAT", "WHY"}};
  for (Moment& each : story->moments)
    rows.push_back({std::move(each.time), std::move(each.what), std::move(each.text)});
  return formatTable(rows);
}

base::Result<std::string> timelineJson(const std::string& job, const std::string& events) {
  const auto story = storyOf(job, events);
  if (!story) return base::fail(story.error());
  codec::JsonWriter out;
  out.beginObject().member("namespace", story->ns).member("name", story->name).key("moments").beginArray();
  for (const Moment& each : story->moments)
    out.beginObject()
        .member("time", each.time)
        .member("what", each.what)
        .member("message", each.text)
        .endObject();
  out.endArray().endObject();
  return std::move(out).take() + "\n";
}

}  // namespace trainyard::cli
