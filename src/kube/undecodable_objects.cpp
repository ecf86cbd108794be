#include "kube/undecodable_objects.h"

#include <fmt/format.h>

#include "codec/object_meta.h"

namespace trainyard::kube {
namespace {

constexpr std::size_t kMaxNamed = 16;

}  // namespace

void UndecodableObjects::report(const base::Error& error, std::string_view text, std::string_view effect) {
  ++count_;
  const auto meta = codec::decodeObjectMeta(text);
  if (names_.size() < kMaxNamed)
    names_.insert(fmt::format("{} {}{}{}: {}", kind_, meta ? meta->ns : "",
                              meta && !meta->ns.empty() ? "/" : "", meta ? meta->name : "?", error.message));
  log_.error(fmt::format("object cannot be decoded; {}", effect),
             {{"kind", kind_},
              {"namespace", meta ? std::string_view(meta->ns) : std::string_view()},
              {"name", meta ? std::string_view(meta->name) : std::string_view("?")},
              {"error", error.message}});
  if (listener_) listener_();
}

}  // namespace trainyard::kube
