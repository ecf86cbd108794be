#include "net/server_core.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "net/server_connection.h"

namespace trainyard::net {

bool ServerCore::add(const std::shared_ptr<Connection>& connection) {
  std::shared_ptr<Connection> leaving;
  {
    const std::lock_guard lock(mutex);
    if (open.size() >= limits.maxConnections) {
      leaving = takeLeastWanted();
      if (!leaving) return false;
    }
    open.emplace(connection.get(), connection);
  }
  if (leaving) leaving->dispatch([](Connection& each) { each.close(); });
  return true;
}

// Scans all connections for each new one, but only when the server is full: cheaper than sorting them for
// every request. On an anonymous server, the address with the most connections loses one, because a kubelet's
// probe is one new connection among hundreds that a pod may keep open.
std::shared_ptr<Connection> ServerCore::takeLeastWanted() {
  std::map<boost::asio::ip::address, std::size_t> held;
  if (anonymous) {
    for (const auto& [address, each] : open) ++held[each->peer()];
  }
  const auto rank = [&](const auto& entry) {
    const Connection& each = *entry.second;
    const Standing standing = each.standing().get();
    return std::tuple(standing == Standing::kAnswered, anonymous ? open.size() - held[each.peer()] : 0,
                      standing, each.standing().since());
  };
  const auto least = std::min_element(open.begin(), open.end(),
                                      [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (least == open.end() || least->second->standing().get() == Standing::kAnswered) return nullptr;
  auto connection = least->second;
  open.erase(least);
  return connection;
}

void ServerCore::remove(const Connection* connection) {
  const std::lock_guard lock(mutex);
  open.erase(connection);
  changed.notify_all();
}

std::vector<std::shared_ptr<Connection>> ServerCore::connections() {
  const std::lock_guard lock(mutex);
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(open.size());
  for (const auto& [address, connection] : open) all.push_back(connection);
  return all;
}

bool ServerCore::waitUntilEmpty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, limit, [this] { return open.empty(); });
}

}  // namespace trainyard::net
