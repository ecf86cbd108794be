#include "cli/convert/volcano_tasks.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace trainyard::cli {
namespace {

constexpr const char* kIndex = "$(TRAINYARD_INDEX)";

// The kind of a text that differs between tasks.
enum class Place { kProgram, kName, kOther };

// Merges tasks into one, if their texts differ only by the tasks' numbers.
class Merger {
 public:
  explicit Merger(std::vector<Json> tasks) : tasks_(std::move(tasks)) {}

  [[nodiscard]] const std::vector<std::string>& dropped() const { return dropped_; }

  std::optional<Json> merge() {
    Json merged = tasks_.front();
    std::vector<const Json*> all;
    for (const Json& each : tasks_) all.push_back(&each);
    if (!mergeValue(merged, all, Place::kOther)) return std::nullopt;
    return merged;
  }

 private:
  bool mergeValue(Json& into, const std::vector<const Json*>& all, Place place) {
    const bool same =
        std::all_of(all.begin(), all.end(), [&](const Json* each) { return *each == *all.front(); });
    if (same) return true;
    if (into.is_string()) return mergeText(into, all, place);
    if (into.is_object()) return mergeObject(into, all, place);
    if (into.is_array()) return mergeList(into, all, place);
    return false;
  }

  bool mergeObject(Json& into, const std::vector<const Json*>& all, Place place) {
    for (const Json* each : all) {
      if (!each->is_object() || each->size() != into.size()) return false;
    }
    for (auto& [key, value] : into.items()) {
      std::vector<const Json*> values;
      for (const Json* each : all) {
        const auto found = each->find(key);
        if (found == each->end()) return false;
        values.push_back(&*found);
      }
      const bool program = key == "command" || key == "args" || key == "value";
      const Place inside = program ? Place::kProgram : key == "name" ? Place::kName : place;
      const bool label = key == "labels" || key == "annotations";
      if (label && value.is_object()) {
        if (!mergeLabels(value, values)) return false;
      } else if (!mergeValue(value, values, inside)) {
        return false;
      }
    }
    return true;
  }

  // A label that differs between tasks cannot be in one template: it is dropped.
  bool mergeLabels(Json& into, const std::vector<const Json*>& all) {
    std::vector<std::string> differing;
    for (const auto& [key, value] : into.items()) {
      for (const Json* each : all) {
        if (!each->is_object() || !each->contains(key)) return false;
        if (each->at(key) != value && (differing.empty() || differing.back() != key))
          differing.push_back(key);
      }
    }
    for (const std::string& key : differing) into.erase(key);
    dropped_.insert(dropped_.end(), differing.begin(), differing.end());
    return true;
  }

  bool mergeList(Json& into, const std::vector<const Json*>& all, Place place) {
    std::vector<Json> lists;
    for (const Json* each : all) {
      if (!each->is_array()) return false;
      lists.push_back(*each);
    }
    // TorchX sets replica 0's host to localhost in that replica; the member's name works as well.
    const auto isFirstHost = [](const Json& each) {
      return textOf(get(each, "name")) == "TORCHX_RANK0_HOST";
    };
    for (Json& list : lists) std::erase_if(list.get_ref<Json::array_t&>(), isFirstHost);
    std::erase_if(into.get_ref<Json::array_t&>(), isFirstHost);
    for (const Json& list : lists) {
      if (list.size() != into.size()) return false;
    }
    for (std::size_t i = 0; i < into.size(); ++i) {
      std::vector<const Json*> elements;
      for (const Json& list : lists) elements.push_back(&list[i]);
      if (!mergeValue(into[i], elements, place)) return false;
    }
    return true;
  }

  // Merges texts of the form PREFIX, number, SUFFIX, if prefix and suffix are the same in all of them.
  static bool mergeText(Json& into, const std::vector<const Json*>& all, Place place) {
    std::vector<std::string> texts;
    for (const Json* each : all) {
      if (!each->is_string()) return false;
      texts.push_back(each->get<std::string>());
    }
    const std::string& first = texts.front();
    for (std::size_t at = first.find('0'); at != std::string::npos; at = first.find('0', at + 1)) {
      const std::string prefix = first.substr(0, at);
      const std::string suffix = first.substr(at + 1);
      bool fits = true;
      for (std::size_t i = 0; i < texts.size() && fits; ++i)
        fits = texts[i] == prefix + std::to_string(i) + suffix;
      if (!fits) continue;
      if (place == Place::kOther) return false;
      std::string trimmed = prefix + suffix;
      while (trimmed.ends_with('-')) trimmed.pop_back();
      into = place == Place::kProgram ? prefix + kIndex + suffix : trimmed;
      return true;
    }
    return false;
  }

  std::vector<Json> tasks_;
  std::vector<std::string> dropped_;
};

// Returns NAME for "NAME-3", if 3 is the number.
std::optional<std::string> stemOf(const Json& task, int number) {
  const std::string name = textOf(get(task, "name"));
  const std::string end = fmt::format("-{}", number);
  const bool one = get(task, "replicas").is_null() || get(task, "replicas") == 1;
  if (!one || !name.ends_with(end) || name.size() == end.size()) return std::nullopt;
  return name.substr(0, name.size() - end.size());
}

}  // namespace

std::vector<VolcanoTask> mergedTasks(const Json& tasks) {
  std::vector<VolcanoTask> all;
  const Json list = listOf(tasks);
  for (std::size_t at = 0; at < list.size();) {
    std::vector<Json> group;
    const auto stem = stemOf(list[at], 0);
    while (stem && at + group.size() < list.size() &&
           stemOf(list[at + group.size()], static_cast<int>(group.size())) == stem) {
      group.push_back(list[at + group.size()]);
    }
    Merger merger(group);
    auto merged = group.size() > 1 ? merger.merge() : std::nullopt;
    if (merged) {
      all.push_back({*stem, std::move(*merged), static_cast<int>(group.size()), merger.dropped()});
      at += group.size();
    } else {
      all.push_back({textOf(get(list[at], "name")), list[at]});
      ++at;
    }
  }
  return all;
}

std::string variablePrefixOf(const std::string& task) {
  std::string name = "VC_";
  for (const char each : task)
    name += each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  return name;
}

}  // namespace trainyard::cli
