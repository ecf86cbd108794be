#include "sim/api/store.h"

namespace trainyard::sim {

ObjectPtr ApiStore::get(const std::string& table, const ObjectKey& key) const {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  const auto object = found->second.find(key);
  return object == found->second.end() ? nullptr : object->second;
}

const ApiStore::Table& ApiStore::table(const std::string& name) const {
  static const Table kEmpty;
  const auto found = tables_.find(name);
  return found == tables_.end() ? kEmpty : found->second;
}

std::optional<ApiStore::Table> ApiStore::tableAt(const std::string& name, std::uint64_t version) const {
  if (version < forgotten_) return std::nullopt;
  Table past = table(name);
  for (auto event = history_.rbegin(); event != history_.rend() && event->version > version; ++event) {
    if (event->table != name) continue;
    if (event->before == nullptr) {
      past.erase(event->key);
    } else {
      past[event->key] = event->before;
    }
  }
  return past;
}

ObjectPtr ApiStore::put(const std::string& table, const ObjectKey& key, Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const ObjectPtr after = std::make_shared<const Json>(std::move(object));
  ObjectPtr& slot = tables_[table][key];
  const ObjectPtr before = slot;
  slot = after;
  commit(
      {.version = version_, .table = table, .key = key, .before = before, .after = after, .last = nullptr});
  return after;
}

ObjectPtr ApiStore::erase(const std::string& table, const ObjectKey& key) {
  const ObjectPtr before = get(table, key);
  if (before == nullptr) return nullptr;
  tables_[table].erase(key);
  Json last = *before;
  last["metadata"]["resourceVersion"] = std::to_string(++version_);
  const ObjectPtr kept = std::make_shared<const Json>(std::move(last));
  commit({.version = version_, .table = table, .key = key, .before = before, .after = nullptr, .last = kept});
  return kept;
}

void ApiStore::forget() {
  history_.clear();
  forgotten_ = version_;
}

void ApiStore::commit(StoreEvent event) {
  history_.push_back(event);
  while (history_.size() > historyLimit_) {
    forgotten_ = history_.front().version;
    history_.pop_front();
  }
  if (listener_) listener_(event);
}

}  // namespace trainyard::sim
