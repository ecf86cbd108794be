#include "cli/manifests.h"

#include <iostream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "codec/yaml_json.h"

namespace trainyard::cli {
namespace {

using codec::YamlComplaint;
using codec::YamlField;

base::Result<std::string> readText(const std::string& file) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return base::readFile(file);
}

base::Result<Manifest> readManifest(codec::YamlValue document, const std::string& file) {
  Manifest manifest{.file = file, .document = std::move(document)};
  YamlComplaint complaint(file);
  const YamlField root(manifest.document, complaint);
  if (manifest.document.kind != codec::YamlValue::Kind::kMap) root.complain("is not a Kubernetes object");
  manifest.kind = root["kind"].text();
  if (manifest.kind.empty()) root["kind"].complain("is required");
  if (!root["apiVersion"].present()) root["apiVersion"].complain("is required");
  const YamlField meta = root["metadata"];
  manifest.ns = meta.section("namespace").text();  // without a value, kubectl assumes none
  manifest.name = meta["name"].text();
  if (manifest.name.empty() && !meta["generateName"].present()) meta["name"].complain("is required");
  if (!complaint.text().empty()) return base::fail(base::ErrorCode::kInvalid, complaint.text());
  auto json = codec::yamlToJson(manifest.document, file);
  if (!json) return base::fail(json.error());
  manifest.json = std::move(*json);
  return manifest;
}

// If the document is a list, as `kubectl get -o yaml` writes it for several objects, returns its items.
std::vector<codec::YamlValue> objectsOf(codec::YamlValue& document) {
  codec::YamlValue* items = nullptr;
  bool isList = false;
  for (auto& [name, value] : document.members) {
    if (name == "items" && value.kind == codec::YamlValue::Kind::kList) items = &value;
    if (name == "kind") isList = value.text.ends_with("List");
  }
  std::vector<codec::YamlValue> objects;
  if (isList && items != nullptr) return std::move(items->items);
  objects.push_back(std::move(document));
  return objects;
}

}  // namespace

std::string Manifest::whereOf(std::string_view message) const {
  return fmt::format("{}:{}", file, codec::lineOfNamedField(document, message));
}

base::Result<std::vector<Manifest>> parseManifests(const std::string& text, const std::string& file) {
  auto documents = codec::parseYamlDocuments(text, file);
  if (!documents) {
    static constexpr std::string_view kHint =
        " (it has {{ … }} of a template: render it first, as by `helm template CHART`, and give the result "
        "by -f -)";
    const bool unrendered = text.find("{{") != std::string::npos && text.find("}}") != std::string::npos;
    return base::fail(documents.error().code,
                      documents.error().message + std::string(unrendered ? kHint : ""));
  }
  std::vector<Manifest> manifests;
  for (codec::YamlValue& document : *documents) {
    for (codec::YamlValue& object : objectsOf(document)) {
      auto manifest = readManifest(std::move(object), file);
      if (!manifest) return base::fail(manifest.error());
      manifests.push_back(std::move(*manifest));
    }
  }
  return manifests;
}

base::Result<std::vector<Manifest>> readManifests(const std::vector<std::string>& files) {
  std::vector<Manifest> all;
  for (const std::string& file : files) {
    const auto text = readText(file);
    if (!text) return base::fail(text.error());
    auto manifests = parseManifests(*text, file == "-" ? "standard input" : file);
    if (!manifests) return base::fail(manifests.error());
    std::move(manifests->begin(), manifests->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace trainyard::cli
