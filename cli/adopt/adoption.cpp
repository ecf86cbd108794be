#include "cli/adopt/adoption.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "cli/plain_text.h"
#include "model/names.h"

namespace trainyard::cli {
namespace {

using model::names::kDefaultQueue;
using model::names::kQueueLabel;

void visitParts(Json& value, const std::string& path,
                const std::function<void(Json& part, const std::string& path)>& visit) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      visitParts(value[i], fmt::format("{}[{}]", path, i), visit);
    return;
  }
  if (!value.is_object()) return;
  if (get(value, "metadata").is_object() || isPodTemplate(value)) visit(value, path);
  for (auto& [key, member] : value.items()) {
    if (key != "status" && key != "metadata")
      visitParts(member, path.empty() ? key : fmt::format("{}.{}", path, key), visit);
  }
}

// Writes metadata before the spec, where people look for it.
Json& metadataOf(Json& holder) {
  if (!holder.contains("metadata")) {
    Json ordered = Json::object();
    ordered["metadata"] = Json::object();
    for (auto& [key, value] : holder.items()) ordered[key] = std::move(value);
    holder = std::move(ordered);
  }
  return holder["metadata"];
}

}  // namespace

bool isQueueName(const std::string& name) {
  static const re2::RE2 kName("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
  return re2::RE2::FullMatch(name, kName);
}

bool isLevelName(const std::string& name) {
  static const re2::RE2 kName("[a-z]([-a-z0-9]*[a-z0-9])?");
  return re2::RE2::FullMatch(name, kName);
}

std::string placeOf(const std::string& path, const std::string& what) {
  return path.empty() ? what : fmt::format("{}: {}", path, what);
}

bool isPodTemplate(const Json& value) { return get(value, "spec", "containers").is_array(); }

void forEachPart(Json& object, const std::function<void(Json& part, const std::string& path)>& visit) {
  visitParts(object, "", visit);
}

void Adoption::add(Severity severity, std::string_view word, const std::string& text) {
  std::string line = plainText(fmt::format("{}: {}", word, text), false);
  const bool isNew =
      std::none_of(lines_.begin(), lines_.end(), [&](const AdoptLine& each) { return each.text == line; });
  if (isNew) lines_.push_back({severity, std::move(line)});
}

void Adoption::addMark(Json& holder, const std::string& path, const char* part, const std::string& key,
                       const std::string& value) {
  const std::string what =
      placeOf(path, fmt::format("{} {}", std::string_view(part) == "labels" ? "label" : "annotation", key));
  Json& all = metadataOf(holder)[part];
  const Json own = get(all, key.c_str());
  if (own == value) return;
  all[key] = value;
  if (own.is_null()) return added(fmt::format("{}: {}", what, value));
  changed(fmt::format("{}: {}, which was {}", what, value, textOf(own)));
}

void Adoption::takeQueue(const std::string& queue, const std::string& origin) {
  if (queue.empty()) return;
  if (!isQueueName(queue))
    return lost(fmt::format("{}: {}: no Queue can have that name: give --queue", origin, queue));
  if (!options_.queue.empty() && options_.queue != queue)
    return changed(fmt::format("{}: {}: --queue {} counts", origin, queue, options_.queue));
  if (!queue_.empty() && queue_ != queue)
    return lost(fmt::format("{}: {}: the queue is {}", origin, queue, queue_));
  queue_ = queue;
  kept(fmt::format("{}: {}: a Queue of that name has to exist", origin, queue));
}

void Adoption::writeWishes(Json& holder, const std::string& path) {
  const std::string label(kQueueLabel);
  const std::string own = textOf(get(holder, "metadata", "labels", label.c_str()));
  std::string queue = options_.queue;
  if (queue.empty()) queue = own;
  if (queue.empty()) queue = queue_;
  if (queue.empty()) queue = kDefaultQueue;
  if (!queue_.empty() && queue_ != queue)
    lost(fmt::format("queue {} of another scheduler: the queue is {}", queue_, queue));
  addMark(holder, path, "labels", label, queue);
  for (const auto& [key, value] : wishes_) {
    const Json has = get(holder, "metadata", "annotations", key.c_str());
    if (has.is_null()) {
      addMark(holder, path, "annotations", key, value);
    } else if (has != value) {
      lost(fmt::format("{} of another scheduler: annotation {} is {} already", value, key, textOf(has)));
    }
  }
}

}  // namespace trainyard::cli
