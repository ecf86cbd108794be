#include "codec/list.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace trainyard::codec {
namespace {

using base::ErrorCode;
namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

// The depth that Go's decoder accepts, so that no object stored by the API server can block a list for ever.
// Neither pass recurses; the reader of an object sets its own limit of depth.
constexpr std::size_t kMaxDepth = 10'100;

std::string text(simdjson::simdjson_result<dom::element> value) {
  std::string_view out;
  return value.get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
}

tl::unexpected<base::Error> refuse(std::string_view what, std::string_view why) {
  return base::fail(ErrorCode::kInvalid, fmt::format("{}: {}", what, why));
}

// The DOM pass verifies that the whole text is well-formed and reads single fields. The on-demand pass only
// cuts out the objects, because it does not validate what it skips. Both together take a fraction of one
// nlohmann parse, and printing from the DOM would change numbers. Parsers are not kept between calls: their
// buffers are several times as large as the largest page so far.
class Text {
 public:
  explicit Text(std::string& json) : json_(json) {
    if (json_.capacity() - json_.size() < simdjson::SIMDJSON_PADDING) {
      json_.reserve(json_.size() + simdjson::SIMDJSON_PADDING);
    }
  }

  simdjson::error_code validate() {
    if (const auto error = domParser_.allocate(json_.size(), kMaxDepth)) return error;
    return domParser_.parse(json_.data(), json_.size(), false).get(root_);
  }
  [[nodiscard]] const dom::element& root() const { return root_; }

  simdjson::error_code cut(ondemand::document& out) {
    return cutParser_.iterate(json_.data(), json_.size(), json_.size() + simdjson::SIMDJSON_PADDING).get(out);
  }

 private:
  std::string& json_;
  dom::parser domParser_;
  dom::element root_;
  ondemand::parser cutParser_;
};

simdjson::error_code cutItems(Text& json, std::vector<std::string>& items) {
  ondemand::document document;
  if (const auto error = json.cut(document)) return error;
  ondemand::array array;
  if (const auto error = document["items"].get_array().get(array)) return error;
  for (auto entry : array) {
    ondemand::object object;
    if (const auto error = entry.get_object().get(object)) return error;
    std::string_view raw;
    if (const auto error = object.raw_json().get(raw)) return error;
    items.emplace_back(raw);
  }
  return simdjson::SUCCESS;
}

simdjson::error_code cutObject(Text& json, std::string_view& raw) {
  ondemand::document document;
  if (const auto error = json.cut(document)) return error;
  ondemand::object object;
  if (const auto error = document["object"].get_object().get(object)) return error;
  return object.raw_json().get(raw);
}

std::optional<WatchEventType> typeOf(std::string_view name) {
  if (name == "ADDED") return WatchEventType::kAdded;
  if (name == "MODIFIED") return WatchEventType::kModified;
  if (name == "DELETED") return WatchEventType::kDeleted;
  if (name == "BOOKMARK") return WatchEventType::kBookmark;
  if (name == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

}  // namespace

base::Result<ObjectList> decodeList(std::string body) {
  Text json(body);
  if (const auto error = json.validate()) return refuse("list", simdjson::error_message(error));
  ObjectList list;
  list.resourceVersion = text(json.root()["metadata"]["resourceVersion"]);
  list.continueToken = text(json.root()["metadata"]["continue"]);
  if (list.resourceVersion.empty()) return refuse("list", "metadata.resourceVersion is missing");
  // Go encodes a nil slice, which is an empty list, as null.
  if (json.root()["items"].is_null()) return list;
  if (const auto error = cutItems(json, list.items)) {
    return refuse("list", fmt::format("items: {}", simdjson::error_message(error)));
  }
  return list;
}

base::Result<WatchEvent> decodeWatchEvent(std::string line) {
  Text json(line);
  if (const auto error = json.validate()) return refuse("watch event", simdjson::error_message(error));
  const std::string typeName = text(json.root()["type"]);
  const auto type = typeOf(typeName);
  if (!type) return refuse("watch event", fmt::format("unknown type \"{}\"", typeName.substr(0, 64)));

  std::string_view raw;
  if (const auto error = cutObject(json, raw)) {
    return refuse("watch event", fmt::format("object: {}", simdjson::error_message(error)));
  }
  WatchEvent event{.type = *type};
  if (*type == WatchEventType::kError) {
    auto status = decodeStatus(raw);
    if (!status) return refuse("watch event of type ERROR", status.error().message);
    event.status = std::move(*status);
    return event;
  }
  event.resourceVersion = text(json.root()["object"]["metadata"]["resourceVersion"]);
  if (event.resourceVersion.empty()) return refuse("watch event", "metadata.resourceVersion is missing");
  if (*type != WatchEventType::kBookmark) event.object = raw;
  return event;
}

}  // namespace trainyard::codec
