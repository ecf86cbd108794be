#include "codec/extender_args.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_text.h"
#include "codec/pod.h"

namespace trainyard::codec {
namespace {

using base::ErrorCode;
namespace ondemand = simdjson::ondemand;

tl::unexpected<base::Error> refuse(std::string_view where, std::string_view why) {
  return base::fail(ErrorCode::kInvalid, fmt::format("extender request: {}: {}", where, why));
}

tl::unexpected<base::Error> refuse(std::string_view where, simdjson::error_code code) {
  return refuse(where, simdjson::error_message(code));
}

// Twice the nodes of the largest known clusters. Each name is answered with a sentence, so the answer to a
// request that holds only names would be twenty times as large as the request.
constexpr std::size_t kMaxNodeNames = 100'000;

constexpr std::string_view kNotCacheCapable =
    "whole objects were sent; the extender's configuration needs nodeCacheCapable: true";

// Returns true if the value is null; reports malformed text such as "nul".
base::Result<bool> isNull(std::string_view where, ondemand::value& value) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return refuse(where, error);
  if (type != ondemand::json_type::null) return false;
  bool null = false;
  if (value.is_null().get(null) != simdjson::SUCCESS || !null)
    return refuse(where, "neither null nor a value");
  return true;
}

// Checks a value that must be null, because only the node-cache-capable form of the request is supported.
base::Result<void> expectNull(std::string_view where, ondemand::value& value) {
  const auto null = isNull(where, value);
  if (!null) return base::fail(null.error());
  if (!*null) return refuse(where, kNotCacheCapable);
  return {};
}

// A member of the request that may appear only once; otherwise the second of two equal keys would win.
class Once {
 public:
  explicit Once(std::string_view name) : name_(name) {}
  base::Result<void> see() {
    if (seen_) return refuse(name_, "given twice");
    seen_ = true;
    return {};
  }
  [[nodiscard]] bool seen() const { return seen_; }

 private:
  std::string_view name_;
  bool seen_ = false;
};

base::Result<model::Pod> readPod(ondemand::value& value) {
  ondemand::object object;
  if (value.get_object().get(object)) return refuse("Pod", "expected an object");
  std::string_view text;
  if (const auto error = object.raw_json().get(text)) return refuse("Pod", error);
  auto pod = decodePod(text);
  if (!pod) return refuse("Pod", pod.error().message);
  return pod;
}

base::Result<std::vector<std::string_view>> readNames(ondemand::value& value) {
  ondemand::array array;
  if (value.get_array().get(array)) return refuse("NodeNames", "expected a list");
  std::vector<std::string_view> names;
  for (auto entry : array) {
    std::string_view name;
    if (const auto error = entry.get_string().get(name)) {
      return refuse(fmt::format("NodeNames[{}]", names.size()),
                    error == simdjson::INCORRECT_TYPE ? "expected a text" : simdjson::error_message(error));
    }
    if (names.size() == kMaxNodeNames)
      return refuse("NodeNames", fmt::format("more than {} names", kMaxNodeNames));
    names.push_back(name);
  }
  return names;
}

base::Result<void> readVictimPods(ondemand::value& value, MetaVictims& into) {
  const auto where = [&] {
    return fmt::format("NodeNameToMetaVictims[{}].Pods[{}]", into.node, into.uids.size());
  };
  const auto null = isNull(where(), value);
  if (!null) return base::fail(null.error());
  if (*null) return {};
  ondemand::array pods;
  if (value.get_array().get(pods)) return refuse(where(), "expected a list of pods");
  for (auto entry : pods) {
    ondemand::object pod;
    if (const auto error = entry.get_object().get(pod)) return refuse(where(), error);
    std::string_view uid;
    if (const auto error = pod["UID"].get_string().get(uid)) return refuse(where() + ".UID", error);
    into.uids.push_back(uid);
  }
  return {};
}

base::Result<MetaVictims> readVictims(std::string_view node, ondemand::value& value) {
  MetaVictims victims;
  victims.node = node;
  const auto where = [&] { return fmt::format("NodeNameToMetaVictims[{}]", node); };
  ondemand::object object;
  if (value.get_object().get(object)) return refuse(where(), "expected an object");
  for (auto field : object) {
    std::string_view key;
    ondemand::value member;
    if (const auto error = field.unescaped_key().get(key)) return refuse(where(), error);
    if (const auto error = field.value().get(member)) return refuse(where(), error);
    if (key == "Pods") {
      victims.uids.clear();
      if (auto read = readVictimPods(member, victims); !read) return base::fail(read.error());
    } else if (key == "NumPDBViolations") {
      if (const auto error = member.get_int64().get(victims.pdbViolations)) {
        return refuse(where() + ".NumPDBViolations", error);
      }
    }
  }
  return victims;
}

base::Result<std::vector<MetaVictims>> readCandidates(ondemand::value& value) {
  ondemand::object object;
  if (value.get_object().get(object)) return refuse("NodeNameToMetaVictims", "expected an object");
  std::vector<MetaVictims> candidates;
  for (auto field : object) {
    std::string_view node;
    ondemand::value member;
    if (const auto error = field.unescaped_key().get(node)) return refuse("NodeNameToMetaVictims", error);
    if (const auto error = field.value().get(member)) return refuse("NodeNameToMetaVictims", error);
    auto victims = readVictims(node, member);
    if (!victims) return base::fail(victims.error());
    candidates.push_back(std::move(*victims));
  }
  return candidates;
}

bool isPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

// Checks eight bytes at a time: a byte below 0x20, '"', '\\' or a byte above 0x7e sets its highest bit.
bool isPlain(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  const auto hasZero = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  std::uint64_t bad = 0;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    bad |= word & kHigh;
    bad |= hasZero(word ^ (kOnes * '"')) | hasZero(word ^ (kOnes * '\\')) | hasZero(word ^ (kOnes * 0x7f));
    bad |= (word - kOnes * 0x20) & ~word & kHigh;
  }
  return bad == 0 && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                 [](char c) { return isPlain(c); });
}

// Plain ASCII without escapes, as in node names and Trainyard's own texts, is copied unchanged.
void appendString(std::string& out, std::string_view text) {
  if (!isPlain(text)) {
    out += base::quoteJson(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void appendFailed(std::string& out, std::span<const FailedNode> failed, bool unresolvable) {
  out += '{';
  bool first = true;
  for (const FailedNode& each : failed) {
    if (each.unresolvable != unresolvable) continue;
    if (!first) out += ',';
    first = false;
    appendString(out, each.node);
    out += ':';
    appendString(out, each.message);
  }
  out += '}';
}

}  // namespace

struct ExtenderArgsParser::Impl {
  ondemand::parser parser;

  // Calls visit(key, value) for the members of the request until one call returns an error.
  template <typename Visit>
  base::Result<void> forEachMember(std::string& body, Visit visit) {
    if (body.capacity() - body.size() < simdjson::SIMDJSON_PADDING) {
      body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    }
    ondemand::document document;
    if (const auto error = parser.iterate(body.data(), body.size(), body.capacity()).get(document)) {
      return refuse("body", error);
    }
    ondemand::object root;
    if (document.get_object().get(root)) return refuse("body", "expected an object");
    for (auto field : root) {
      std::string_view key;
      ondemand::value value;
      if (const auto error = field.unescaped_key().get(key)) return refuse("body", error);
      if (const auto error = field.value().get(value)) return refuse(key, error);
      if (auto visited = visit(key, value); !visited) return visited;
    }
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      return refuse("body", "something follows the object");
    }
    return {};
  }
};

ExtenderArgsParser::ExtenderArgsParser() : impl_(std::make_unique<Impl>()) {}
ExtenderArgsParser::~ExtenderArgsParser() = default;

std::size_t ExtenderArgsParser::capacity() const { return impl_->parser.capacity(); }

base::Result<ExtenderArgs> ExtenderArgsParser::parse(std::string& body) {
  ExtenderArgs args;
  Once pod("Pod");
  Once names("NodeNames");
  Once nodes("Nodes");
  bool namesGiven = false;
  auto walked =
      impl_->forEachMember(body, [&](std::string_view key, ondemand::value& value) -> base::Result<void> {
        if (key == "Pod") {
          return pod.see().and_then([&] { return readPod(value); }).map([&](model::Pod read) {
            args.pod = std::move(read);
          });
        }
        if (key == "Nodes") {
          if (auto once = nodes.see(); !once) return once;
          return expectNull(key, value);
        }
        if (key == "NodeNames") {
          if (auto once = names.see(); !once) return once;
          const auto null = isNull(key, value);
          if (!null) return base::fail(null.error());
          if (*null) return {};
          namesGiven = true;
          return readNames(value).map([&](auto read) { args.nodeNames = std::move(read); });
        }
        return {};
      });
  if (!walked) return base::fail(walked.error());
  if (!pod.seen()) return refuse("Pod", "is missing");
  if (!namesGiven) return refuse("NodeNames", names.seen() ? "is null" : "is missing");
  return args;
}

base::Result<PreemptionArgs> ExtenderArgsParser::parsePreemption(std::string& body) {
  PreemptionArgs args;
  Once pod("Pod");
  Once victims("NodeNameToVictims");
  Once metaVictims("NodeNameToMetaVictims");
  bool given = false;
  auto walked =
      impl_->forEachMember(body, [&](std::string_view key, ondemand::value& value) -> base::Result<void> {
        if (key == "Pod") {
          return pod.see().and_then([&] { return readPod(value); }).map([&](model::Pod read) {
            args.pod = std::move(read);
          });
        }
        if (key == "NodeNameToVictims") {
          if (auto once = victims.see(); !once) return once;
          return expectNull(key, value);
        }
        if (key == "NodeNameToMetaVictims") {
          if (auto once = metaVictims.see(); !once) return once;
          const auto null = isNull(key, value);
          if (!null) return base::fail(null.error());
          if (*null) return {};
          given = true;
          return readCandidates(value).map([&](auto read) { args.candidates = std::move(read); });
        }
        return {};
      });
  if (!walked) return base::fail(walked.error());
  if (!pod.seen()) return refuse("Pod", "is missing");
  if (!given) return refuse("NodeNameToMetaVictims", metaVictims.seen() ? "is null" : "is missing");
  return args;
}

std::string encodeFilterResult(std::span<const std::string_view> nodeNames,
                               std::span<const FailedNode> failed) {
  std::size_t size = 128;
  for (const std::string_view name : nodeNames) size += name.size() + 3;
  for (const FailedNode& each : failed) size += each.node.size() + each.message.size() + 6;
  std::string out;
  out.reserve(size);
  out += R"({"Nodes":null,"NodeNames":[)";
  for (std::size_t i = 0; i < nodeNames.size(); ++i) {
    if (i > 0) out += ',';
    appendString(out, nodeNames[i]);
  }
  out += R"(],"FailedNodes":)";
  appendFailed(out, failed, false);
  out += R"(,"FailedAndUnresolvableNodes":)";
  appendFailed(out, failed, true);
  out += R"(,"Error":""})";
  return out;
}

std::string encodeFilterError(std::string_view message) {
  std::string out =
      R"({"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":)";
  // An empty text would mean success.
  appendString(out, message.empty() ? "unknown error" : message);
  out += '}';
  return out;
}

std::string encodePriorities(std::span<const std::string_view> nodeNames, std::span<const int> scores) {
  std::string out;
  out.reserve(2 + nodeNames.size() * 48);
  out += '[';
  for (std::size_t i = 0; i < nodeNames.size() && i < scores.size(); ++i) {
    out += i == 0 ? R"({"Host":)" : R"(,{"Host":)";
    appendString(out, nodeNames[i]);
    out += R"(,"Score":)";
    out += fmt::format_int(scores[i]).c_str();
    out += '}';
  }
  out += ']';
  return out;
}

std::string encodePreemptionResult(std::span<const MetaVictims> kept) {
  std::string out = R"({"NodeNameToMetaVictims":{)";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) out += ',';
    appendString(out, kept[i].node);
    out += R"(:{"Pods":[)";
    for (std::size_t j = 0; j < kept[i].uids.size(); ++j) {
      out += j == 0 ? R"({"UID":)" : R"(,{"UID":)";
      appendString(out, kept[i].uids[j]);
      out += '}';
    }
    fmt::format_to(std::back_inserter(out), R"(],"NumPDBViolations":{}}})", kept[i].pdbViolations);
  }
  out += "}}";
  return out;
}

}  // namespace trainyard::codec
