#include "codec/workload_marks.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "codec/json_writer.h"
#include "model/names.h"

namespace trainyard::codec {
namespace {

using model::Workload;

constexpr std::string_view kPatchManager = "trainyard.dev/operator";

// A segment of a JSON pointer.
std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

// Writes the operations that mark templates: labels of gang and role, and the gate. Each list or map is added
// only where it is missing.
class TemplateMarks {
 public:
  TemplateMarks() { out_.beginArray(); }

  void label(const WorkloadRole& role, std::string_view name, std::string_view value) {
    const Field metadata = role.podTemplate["metadata"];
    if (metadata["labels"][name].text() == value) return;
    addMissing(metadata, role.templatePath + "/metadata", "{}");
    addMissing(metadata["labels"], role.templatePath + "/metadata/labels", "{}");
    add(fmt::format("{}/metadata/labels/{}", role.templatePath, escaped(name)), fmt::format("\"{}\"", value));
  }

  void gate(const WorkloadRole& role) {
    const Field gates = role.podTemplate["spec"]["schedulingGates"];
    bool has = false;
    gates.forEachElement(
        [&](const Field& each) { has = has || each["name"].text() == model::names::kPlaceGate; });
    if (has) return;
    const std::string path = role.templatePath + "/spec/schedulingGates";
    addMissing(gates, path, "[]");
    add(path + "/-", fmt::format(R"({{"name":"{}"}})", model::names::kPlaceGate));
  }

  // If there is anything to mark.
  void start() {
    if (any_) add("/spec/suspend", "false");
  }

  // Empty if everything is marked. Otherwise nothing is changed unless the object is still this one.
  [[nodiscard]] std::string take(const Workload& workload) && {
    if (!any_) return {};
    JsonWriter all;
    all.beginArray();
    test(all, "/metadata/uid", workload.uid.str());
    test(all, "/metadata/resourceVersion", workload.resourceVersion);
    out_.endArray();
    const std::string marks = std::move(out_).take();
    std::string text = std::move(all).take();
    return text + "," + marks.substr(1);
  }

 private:
  static void test(JsonWriter& out, std::string_view path, std::string_view value) {
    out.beginObject().member("op", "test").member("path", path).member("value", value).endObject();
  }
  void addMissing(const Field& field, const std::string& path, std::string_view value) {
    // What is added twice loses what was added to it.
    if (field.present() || !made_.insert(path).second) return;
    add(path, value);
  }
  void add(std::string_view path, std::string_view json) {
    any_ = true;
    out_.beginObject().member("op", "add").member("path", path).key("value").raw(json).endObject();
  }

  JsonWriter out_;
  std::set<std::string> made_;  // paths
  bool any_ = false;
};

}  // namespace

std::string encodeTemplateMarks(const Workload& workload, const Field& root, bool isGang,
                                const std::vector<WorkloadRole>& roles) {
  TemplateMarks marks;
  for (const WorkloadRole& each : roles) {
    if (isGang) {
      marks.label(each, model::names::kGangLabel, workload.gangName);
      marks.label(each, model::names::kGangRoleLabel, each.name);
    } else {
      marks.label(each, model::names::kQueueLabel,
                  root["metadata"]["labels"][model::names::kQueueLabel].text());
    }
    marks.gate(each);
  }
  // Only a Job's pods may be no gang, and each of them waits by itself.
  if (!isGang && workload.owner.suspended) marks.start();
  return std::move(marks).take(workload);
}

bool hasRuntimePatch(const Field& object) {
  bool has = false;
  object["spec"]["runtimePatches"].forEachElement(
      [&](const Field& each) { has = has || each["manager"].text() == kPatchManager; });
  return has;
}

std::string encodeRuntimePatch(const Workload& workload, const Field& object,
                               const std::vector<WorkloadRole>& roles) {
  JsonWriter out;
  const auto test = [&](std::string_view path, std::string_view value) {
    out.beginObject().member("op", "test").member("path", path).member("value", value).endObject();
  };
  out.beginArray();
  test("/metadata/uid", workload.uid.str());
  test("/metadata/resourceVersion", workload.resourceVersion);
  if (!object["spec"]["runtimePatches"].present())
    out.beginObject()
        .member("op", "add")
        .member("path", "/spec/runtimePatches")
        .key("value")
        .raw("[]")
        .endObject();
  out.beginObject().member("op", "add").member("path", "/spec/runtimePatches/-");
  out.key("value").beginObject().member("manager", kPatchManager);
  out.key("trainingRuntimeSpec").beginObject().key("template").beginObject().key("spec").beginObject();
  out.key("replicatedJobs").beginArray();
  for (const WorkloadRole& each : roles) {
    out.beginObject().member("name", each.sourceName);
    out.key("template").beginObject().key("spec").beginObject().key("template").beginObject();
    out.key("metadata").beginObject().key("labels").beginObject();
    out.member(model::names::kGangLabel, workload.gangName);
    out.member(model::names::kGangRoleLabel, each.name).endObject().endObject();
    out.key("spec").beginObject().key("schedulingGates").beginArray();
    out.beginObject().member("name", model::names::kPlaceGate).endObject().endArray().endObject();
    out.endObject().endObject().endObject().endObject();
  }
  out.endArray().endObject().endObject().endObject().endObject().endObject().endArray();
  return std::move(out).take();
}

}  // namespace trainyard::codec
