#include "sim/api/object_reader.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/api/scale.h"
#include "sim/api/watch.h"

namespace trainyard::sim {
namespace {

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A page token holds the version of the first page and the last key. It is opaque to clients, so it is plain
// JSON in hex.
struct PageToken {
  std::uint64_t version = 0;
  ObjectKey after;
};

std::string writeToken(const PageToken& token) {
  const std::string text =
      dumpJson(Json{{"v", token.version}, {"s", token.after.first}, {"n", token.after.second}});
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::optional<PageToken> readToken(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return std::nullopt;
    text += static_cast<char>(value);
  }
  const auto parsed = parseJson(text);
  if (!parsed || !intAt(*parsed, {"v"})) return std::nullopt;
  return PageToken{static_cast<std::uint64_t>(*intAt(*parsed, {"v"})),
                   {textAt(*parsed, {"s"}), textAt(*parsed, {"n"})}};
}

tl::unexpected<Failure> tooLarge(std::uint64_t asked, std::uint64_t current) {
  Failure failure{504, "Timeout", fmt::format("Too large resource version: {}, current: {}", asked, current),
                  Json::object()};
  failure.details["causes"] = {
      {{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}};
  failure.details["retryAfterSeconds"] = 1;
  return tl::unexpected<Failure>(std::move(failure));
}

tl::unexpected<Failure> invalidListOptions(const std::string& field, const std::string& detail,
                                           bool forbidden) {
  Causes causes;
  if (forbidden) {
    causes.forbidden(field, detail);
  } else {
    causes.invalid(field, detail);
  }
  return failInvalid({"meta.k8s.io", "", "ListOptions"}, "", causes);
}

struct Wanted {
  ApiStore::Table table;
  std::uint64_t version = 0;
  std::optional<ObjectKey> after;
};

Outcome<Wanted> select(const RequestInfo& info, const ApiStore& store) {
  const Query& query = info.path.query;
  const std::string token = queryText(query, "continue");
  const std::string version = queryText(query, "resourceVersion");
  const std::string match = queryText(query, "resourceVersionMatch");
  if (!match.empty() && !token.empty())
    return invalidListOptions("resourceVersionMatch",
                              "resourceVersionMatch is forbidden when continue is provided", true);
  if (!match.empty() && version.empty())
    return invalidListOptions("resourceVersionMatch",
                              "resourceVersionMatch is forbidden unless resourceVersion is provided", true);
  if (match == "Exact" && version == "0")
    return invalidListOptions("resourceVersionMatch",
                              "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"", true);
  Wanted wanted{store.table(info.type->table), store.version(), std::nullopt};
  if (!token.empty()) {
    const auto page = readToken(token);
    if (!page) return failBadRequest("continue key is not valid: illegal base64 data");
    if (!version.empty() && version != "0")
      return failBadRequest("specifying resource version is not allowed when using continue");
    auto past = store.tableAt(info.type->table, page->version);
    if (!past) {
      return failExpired(
          "The provided continue parameter is too old to display a consistent list result. You can start a "
          "new list without the continue parameter.");
    }
    return Wanted{*std::move(past), page->version, page->after};
  }
  if (version.empty() || version == "0") return wanted;
  const auto asked = number(version);
  if (!asked) return failBadRequest(fmt::format("resourceVersion: Invalid value: \"{}\"", version));
  if (*asked > store.version()) return tooLarge(*asked, store.version());
  if (match == "Exact") {
    auto past = store.tableAt(info.type->table, *asked);
    if (!past) return failExpired(fmt::format("The resourceVersion for the provided list is too old."));
    return Wanted{*std::move(past), *asked, std::nullopt};
  }
  return wanted;
}

}  // namespace

Outcome<Answer> ObjectReader::get(const RequestInfo& info) const {
  const ObjectPtr object = store_.get(info.type->table, info.key());
  if (object == nullptr) return failNotFound(info.type->name, info.path.name);
  const Json seen = shown(*info.type, *object);
  if (info.part != Part::kScale) return Answer{200, seen};
  auto scale = readScale(*info.type, seen);
  if (!scale) return tl::unexpected<Failure>(scale.error());
  return Answer{200, *std::move(scale)};
}

// No container runs here: an annotation holds the log that it would have written.
Outcome<Answer> ObjectReader::log(const RequestInfo& info) const {
  const ObjectPtr object = store_.get(info.type->table, info.key());
  if (object == nullptr) return failNotFound(info.type->name, info.path.name);
  const Json seen = shown(*info.type, *object);
  if (textAt(seen, {"spec", "nodeName"}).empty())
    return failBadRequest(fmt::format("pod {} does not have a host assigned", info.path.name));
  return Answer{200, textAt(seen, {"metadata", "annotations", "sim.trainyard.dev/log"})};
}

Outcome<Answer> ObjectReader::list(const RequestInfo& info) const {
  auto selector = selectorOf(info);
  if (!selector) return tl::unexpected<Failure>(selector.error());
  auto wanted = select(info, store_);
  if (!wanted) return tl::unexpected<Failure>(wanted.error());
  const ResourceType& type = *info.type;
  const std::string limitText = queryText(info.path.query, "limit");
  // If the watch cache answers (version "0"), the limit has no effect.
  const bool fromCache = queryText(info.path.query, "resourceVersion") == "0";
  const std::size_t limit = fromCache ? 0 : number(limitText).value_or(0);
  Json items = Json::array();
  std::optional<ObjectKey> last;
  std::int64_t remaining = 0;
  for (const auto& [key, object] : wanted->table) {
    if (!info.path.space.empty() && key.first != info.path.space) continue;
    if (wanted->after && key <= *wanted->after) continue;
    // The remaining objects are not matched against the selector, so the next page may be empty.
    if (limit != 0 && items.size() == limit) {
      ++remaining;
      continue;
    }
    Json seen = shown(type, *object);
    if (!selector->matches(seen)) continue;
    last = key;
    if (!type.custom()) {
      seen.erase("apiVersion");
      seen.erase("kind");
    }
    items.push_back(std::move(seen));
  }
  Json result = {{"kind", type.name.kind + "List"}, {"apiVersion", type.apiVersion()}};
  result["metadata"]["resourceVersion"] = std::to_string(wanted->version);
  if (type.custom()) result["metadata"]["continue"] = "";
  if (remaining > 0) {
    result["metadata"]["continue"] = writeToken({wanted->version, *last});
    if (selector->empty()) result["metadata"]["remainingItemCount"] = remaining;
  }
  result["items"] = std::move(items);
  return Answer{200, std::move(result)};
}

}  // namespace trainyard::sim
