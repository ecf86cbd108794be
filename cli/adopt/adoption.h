#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/adopt/adopt.h"
#include "cli/convert/value.h"

// Only the files of this folder include this one.
namespace trainyard::cli {

struct AdoptLine {
  Severity severity = Severity::kKept;
  std::string text;  // "added: spec.suspend: true"
};

// An object that is being adopted, and the report about it.
class Adoption {
 public:
  Adoption(Json object, const AdoptOptions& options) : object_(std::move(object)), options_(options) {}

  [[nodiscard]] Json& object() { return object_; }
  [[nodiscard]] std::string name() const { return textOf(get(object_, "metadata", "name")); }
  [[nodiscard]] std::string space() const { return textOf(get(object_, "metadata", "namespace")); }
  [[nodiscard]] bool asGang() const { return options_.asGang; }

  // Adds a label or an annotation to the metadata of `holder`, which is at `path`; an equal one stays.
  void addMark(Json& holder, const std::string& path, const char* part, const std::string& key,
               const std::string& value);
  // Remembers the queue that the object names for another scheduler; `origin` names the field in the report.
  void takeQueue(const std::string& queue, const std::string& origin);
  // Remembers an annotation; writeWishes() adds it.
  void wish(const std::string& key, const std::string& value) { wishes_.try_emplace(key, value); }
  // Adds the label of the queue and the annotations to the metadata of `holder`.
  void writeWishes(Json& holder, const std::string& path);

  void added(const std::string& text) { add(Severity::kKept, "added", text); }
  // Adds a line "kept", "changed" and so on.
  void note(Severity severity, const std::string& text) { add(severity, toString(severity), text); }
  void kept(const std::string& text) { note(Severity::kKept, text); }
  void changed(const std::string& text) { note(Severity::kChanged, text); }
  void lost(const std::string& text) { note(Severity::kLost, text); }
  void cannotWork(const std::string& text) { note(Severity::kCannotWork, text); }
  [[nodiscard]] const std::vector<AdoptLine>& lines() const { return lines_; }

 private:
  void add(Severity severity, std::string_view word, const std::string& text);

  Json object_;
  const AdoptOptions& options_;
  std::string queue_;
  std::map<std::string, std::string> wishes_;
  std::vector<AdoptLine> lines_;
};

// Returns true if a Queue can have this name.
[[nodiscard]] bool isQueueName(const std::string& name);

// Returns true if a level of a topology can have this name.
[[nodiscard]] bool isLevelName(const std::string& name);

// "spec.template: label a", or "label a" of the object itself.
[[nodiscard]] std::string placeOf(const std::string& path, const std::string& what);

// Returns true for what a controller makes pods of: a spec with containers.
[[nodiscard]] bool isPodTemplate(const Json& value);

// Visits the object, and everything in its spec that has metadata or is a pod template, with its path:
// "spec.template".
void forEachPart(Json& object, const std::function<void(Json& part, const std::string& path)>& visit);

}  // namespace trainyard::cli
