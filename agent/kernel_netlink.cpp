// The only file that uses libnl. A library needs no process for each change and returns errors as values.
// (Rejected: the tc program, as TensorLights calls it.)
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/class.h>
#include <netlink/route/classifier.h>
#include <netlink/route/cls/u32.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/htb.h>
#include <netlink/route/tc.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/kernel.h"
#include "agent/u32_keys.h"

namespace trainyard::agent {
namespace {

constexpr std::uint32_t kRoot = 0xffffffff;
constexpr std::uint32_t kIpv4 = 0x0800;
constexpr std::uint32_t kIpv6 = 0x86dd;
// A class sends this much before the next class of its band sends: a full segment of offloading NICs.
constexpr std::uint32_t kQuantum = 65'536;
// What a class may send at once beyond its rate: the bytes of 4 ms, but at least two large segments.
constexpr std::uint64_t kBurstFraction = 250;
constexpr std::uint64_t kMinBurst = 131'072;
constexpr std::uint64_t kMaxBurst = 16u << 20;

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Socket = std::unique_ptr<nl_sock, Freer<nl_socket_free>>;
using Cache = std::unique_ptr<nl_cache, Freer<nl_cache_free>>;
using Qdisc = std::unique_ptr<rtnl_qdisc, Freer<rtnl_qdisc_put>>;
using Class = std::unique_ptr<rtnl_class, Freer<rtnl_class_put>>;
using Filter = std::unique_ptr<rtnl_cls, Freer<rtnl_cls_put>>;

template <typename T>
rtnl_tc* tc(T* object) {
  return reinterpret_cast<rtnl_tc*>(object);  // libnl's own TC_CAST, without its C cast
}

std::uint32_t handleOf(std::uint16_t minor) { return kQdiscHandle | minor; }
std::uint16_t minorOf(std::uint32_t handle) { return static_cast<std::uint16_t>(handle & 0xffff); }

base::Error errorOf(int code, const std::string& doing) {
  const int kind = std::abs(code);
  base::ErrorCode meaning = base::ErrorCode::kInternal;
  if (kind == NLE_BUSY || kind == NLE_EXIST || kind == NLE_INVAL || kind == NLE_RANGE) {
    meaning = base::ErrorCode::kConflict;
  } else if (kind == NLE_PERM || kind == NLE_NOACCESS) {
    meaning = base::ErrorCode::kForbidden;
  } else if (kind == NLE_NODEV) {
    meaning = base::ErrorCode::kNotFound;
  } else if (kind == NLE_OPNOTSUPP) {
    meaning = base::ErrorCode::kUnsupported;
  } else if (kind == NLE_OBJ_NOTFOUND) {
    meaning = base::ErrorCode::kConflict;
  }
  return {meaning, fmt::format("{}: {}", doing, nl_geterror(code))};
}

base::Result<void> result(int code, const std::string& doing) {
  if (code >= 0) return {};
  return base::fail(errorOf(code, doing));
}

// The kernel reports an unknown kind of qdisc, class or filter as "not found".
base::Result<void> creation(int code, const std::string& doing, std::string_view feature) {
  if (code >= 0) return {};
  base::Error error = errorOf(code, doing);
  if (std::abs(code) == NLE_OBJ_NOTFOUND || std::abs(code) == NLE_OPNOTSUPP) {
    error.code = base::ErrorCode::kUnsupported;
    error.reason = feature;
  }
  return base::fail(std::move(error));
}

template <typename Visit>
void forEach(nl_cache* cache, Visit visit) {
  for (nl_object* each = nl_cache_get_first(cache); each != nullptr; each = nl_cache_get_next(each))
    visit(each);
}

std::vector<U32Key> keysOf(rtnl_cls* filter) {
  std::vector<U32Key> keys;
  for (std::uint8_t i = 0; i < 16; ++i) {
    U32Key key;
    if (rtnl_u32_get_key(filter, i, &key.value, &key.mask, &key.offset, &key.offsetMask) < 0) break;
    keys.push_back(key);
  }
  return keys;
}

class NetlinkKernel final : public Kernel {
 public:
  explicit NetlinkKernel(Socket socket) : socket_(std::move(socket)) {}

  base::Result<FoundLink> read(const std::string& device) override {
    const unsigned index = if_nametoindex(device.c_str());
    if (index == 0) return base::fail(base::ErrorCode::kNotFound, fmt::format("no device {}", device));
    FoundLink found;
    if (auto good = readRoot(static_cast<int>(index), found); !good) return base::fail(good.error());
    if (found.root != RootOwner::kOurs) return found;
    if (auto good = readClasses(static_cast<int>(index), found); !good) return base::fail(good.error());
    if (auto good = readFilters(static_cast<int>(index), found); !good) return base::fail(good.error());
    return found;
  }

  base::Result<std::vector<FoundClass>> readClasses(const std::string& device) override {
    const unsigned index = if_nametoindex(device.c_str());
    FoundLink found;
    if (index == 0) return base::fail(base::ErrorCode::kNotFound, fmt::format("no device {}", device));
    if (auto good = readClasses(static_cast<int>(index), found); !good) return base::fail(good.error());
    return std::move(found.classes);
  }

  base::Result<void> apply(const std::string& device, const TcChange& change) override {
    const unsigned index = if_nametoindex(device.c_str());
    if (index == 0) return base::fail(base::ErrorCode::kNotFound, fmt::format("no device {}", device));
    const std::string doing = fmt::format("{} on {}", describe(change), device);
    return std::visit([&](const auto& each) { return make(static_cast<int>(index), each, doing); }, change);
  }

  KernelFeatures probe() override {
    KernelFeatures features;
    const std::string device = fmt::format("typrobe{}", getpid() % 1'000'000);
    const std::string peer = device + "p";
    if (const int code = rtnl_link_veth_add(socket_.get(), device.c_str(), peer.c_str(), getpid());
        code < 0) {
      features.message = fmt::format("no pair of devices to try on: {}", nl_geterror(code));
      return features;
    }
    features.tried = true;
    const TcClass link{kLinkClass, 0, 0, 1'000'000, 1'000'000};
    const TcClass job{kFirstJobClass, kLinkClass, 1, 100'000, 1'000'000};
    const FlowKey flow{*parseIpAddress("192.0.2.1"), 0};
    for (const TcChange& each :
         {TcChange(AddQdisc{}), TcChange(SetClass{link, false}), TcChange(SetClass{job, false}),
          TcChange(AddFilter{{flow, kFirstJobClass}})}) {
      const auto made = apply(device, each);
      if (made) continue;
      features.missing.push_back(made.error().reason.empty() ? "NET_SCHED" : made.error().reason);
      features.message = made.error().message;
      break;
    }
    removeLink(device);
    return features;
  }

 private:
  base::Result<void> readRoot(int index, FoundLink& found) {
    nl_cache* raw = nullptr;
    if (const int code = rtnl_qdisc_alloc_cache(socket_.get(), &raw); code < 0)
      return base::fail(errorOf(code, "list qdiscs"));
    const Cache cache(raw);
    forEach(cache.get(), [&](nl_object* object) {
      auto* qdisc = reinterpret_cast<rtnl_qdisc*>(object);
      if (rtnl_tc_get_ifindex(tc(qdisc)) != index || rtnl_tc_get_parent(tc(qdisc)) != kRoot) return;
      const std::uint32_t handle = rtnl_tc_get_handle(tc(qdisc));
      found.rootKind = rtnl_tc_get_kind(tc(qdisc));
      if (handle == kQdiscHandle && found.rootKind == "htb") {
        found.root = RootOwner::kOurs;
        found.defaultMinor = static_cast<std::uint16_t>(rtnl_htb_get_defcls(qdisc));
      } else if (handle != 0) {
        found.root = RootOwner::kForeign;  // the kernel's default qdisc has no handle
      }
    });
    return {};
  }

  base::Result<void> readClasses(int index, FoundLink& found) {
    nl_cache* raw = nullptr;
    if (const int code = rtnl_class_alloc_cache(socket_.get(), index, &raw); code < 0)
      return base::fail(errorOf(code, "list classes"));
    const Cache cache(raw);
    forEach(cache.get(), [&](nl_object* object) {
      auto* one = reinterpret_cast<rtnl_class*>(object);
      const std::uint32_t handle = rtnl_tc_get_handle(tc(one));
      if ((handle & 0xffff0000) != kQdiscHandle) return;
      FoundClass each;
      each.shape.minor = minorOf(handle);
      const std::uint32_t parent = rtnl_tc_get_parent(tc(one));
      each.shape.parentMinor = parent == kRoot ? 0 : minorOf(parent);
      each.shape.band = rtnl_htb_get_prio(one);
      rtnl_htb_get_rate64(one, &each.shape.rate);
      rtnl_htb_get_ceil64(one, &each.shape.ceil);
      each.sentBytes = rtnl_tc_get_stat(tc(one), RTNL_TC_BYTES);
      each.waitingPackets = rtnl_tc_get_stat(tc(one), RTNL_TC_QLEN);
      found.classes.push_back(each);
    });
    std::sort(found.classes.begin(), found.classes.end(),
              [](const FoundClass& a, const FoundClass& b) { return a.shape.minor < b.shape.minor; });
    return {};
  }

  base::Result<void> readFilters(int index, FoundLink& found) {
    nl_cache* raw = nullptr;
    if (const int code = rtnl_cls_alloc_cache(socket_.get(), index, kQdiscHandle, &raw); code < 0)
      return base::fail(errorOf(code, "list filters"));
    const Cache cache(raw);
    forEach(cache.get(), [&](nl_object* object) {
      auto* one = reinterpret_cast<rtnl_cls*>(object);
      const std::uint16_t priority = rtnl_cls_get_prio(one);
      if (priority != kFilterPriority4 && priority != kFilterPriority6) return;
      FoundFilter each{.handle = rtnl_tc_get_handle(tc(one)),
                       .priority = priority,
                       .v6 = rtnl_cls_get_protocol(one) == kIpv6};
      // The handle of a hash table has node number 0; filters are nodes of such a table.
      if ((each.handle & 0xfff) == 0) return;
      std::uint32_t classid = 0;
      const auto flow = flowOf(keysOf(one), each.v6);
      if (flow && rtnl_u32_get_classid(one, &classid) >= 0 && (classid & 0xffff0000) == kQdiscHandle)
        each.filter = TcFilter{*flow, minorOf(classid)};
      found.filters.push_back(each);
    });
    std::sort(found.filters.begin(), found.filters.end(),
              [](const FoundFilter& a, const FoundFilter& b) { return a.handle < b.handle; });
    return {};
  }

  base::Result<void> make(int index, const AddQdisc& /*change*/, const std::string& doing) {
    const Qdisc qdisc = qdiscOn(index);
    rtnl_htb_set_defcls(qdisc.get(), kOthersClass);
    return creation(rtnl_qdisc_add(socket_.get(), qdisc.get(), NLM_F_CREATE | NLM_F_REPLACE), doing,
                    "NET_SCH_HTB");
  }

  base::Result<void> make(int index, const RemoveQdisc& /*change*/, const std::string& doing) {
    const Qdisc qdisc = qdiscOn(index);
    return result(rtnl_qdisc_delete(socket_.get(), qdisc.get()), doing);
  }

  base::Result<void> make(int index, const SetClass& change, const std::string& doing) {
    const TcClass& shape = change.shape;
    const Class one = classOn(index, shape.minor);
    rtnl_tc_set_parent(tc(one.get()), shape.parentMinor == 0 ? kQdiscHandle : handleOf(shape.parentMinor));
    rtnl_htb_set_rate64(one.get(), shape.rate);
    rtnl_htb_set_ceil64(one.get(), shape.ceil);
    rtnl_htb_set_prio(one.get(), shape.band);
    rtnl_htb_set_quantum(one.get(), kQuantum);
    rtnl_htb_set_rbuffer(one.get(), burstOf(shape.rate));
    rtnl_htb_set_cbuffer(one.get(), burstOf(shape.ceil));
    return result(rtnl_class_add(socket_.get(), one.get(), NLM_F_CREATE), doing);
  }

  base::Result<void> make(int index, const RemoveClass& change, const std::string& doing) {
    const Class one = classOn(index, change.minor);
    return result(rtnl_class_delete(socket_.get(), one.get()), doing);
  }

  base::Result<void> make(int index, const AddFilter& change, const std::string& doing) {
    const Filter one = filterOn(index, change.filter.flow.source.v6);
    fill(one.get(), change.filter);
    return creation(rtnl_cls_add(socket_.get(), one.get(), NLM_F_CREATE | NLM_F_EXCL), doing, "NET_CLS_U32");
  }

  base::Result<void> make(int index, const MoveFilter& change, const std::string& doing) {
    const Filter one = filterOn(index, change.filter.flow.source.v6);
    setHandle(one.get(), change.handle);
    fill(one.get(), change.filter);
    return result(rtnl_cls_change(socket_.get(), one.get(), 0), doing);
  }

  base::Result<void> make(int index, const RemoveFilter& change, const std::string& doing) {
    const Filter one = filterOn(index, change.v6);
    rtnl_cls_set_prio(one.get(), change.priority);
    setHandle(one.get(), change.handle);
    return result(rtnl_cls_delete(socket_.get(), one.get(), 0), doing);
  }

  static std::uint32_t burstOf(std::uint64_t rate) {
    return static_cast<std::uint32_t>(std::clamp(rate / kBurstFraction, kMinBurst, kMaxBurst));
  }

  static Qdisc qdiscOn(int index) {
    Qdisc qdisc(rtnl_qdisc_alloc());
    rtnl_tc_set_ifindex(tc(qdisc.get()), index);
    rtnl_tc_set_parent(tc(qdisc.get()), kRoot);
    rtnl_tc_set_handle(tc(qdisc.get()), kQdiscHandle);
    rtnl_tc_set_kind(tc(qdisc.get()), "htb");
    return qdisc;
  }

  static Class classOn(int index, std::uint16_t minor) {
    Class one(rtnl_class_alloc());
    rtnl_tc_set_ifindex(tc(one.get()), index);
    rtnl_tc_set_handle(tc(one.get()), handleOf(minor));
    rtnl_tc_set_kind(tc(one.get()), "htb");
    return one;
  }

  static Filter filterOn(int index, bool v6) {
    Filter one(rtnl_cls_alloc());
    rtnl_tc_set_ifindex(tc(one.get()), index);
    rtnl_tc_set_parent(tc(one.get()), kQdiscHandle);
    rtnl_tc_set_kind(tc(one.get()), "u32");
    rtnl_cls_set_prio(one.get(), v6 ? kFilterPriority6 : kFilterPriority4);
    rtnl_cls_set_protocol(one.get(), static_cast<std::uint16_t>(v6 ? kIpv6 : kIpv4));
    return one;
  }

  static void setHandle(rtnl_cls* one, std::uint32_t handle) { rtnl_tc_set_handle(tc(one), handle); }

  static void fill(rtnl_cls* one, const TcFilter& filter) {
    for (const U32Key& key : keysFor(filter.flow))
      rtnl_u32_add_key(one, key.value, key.mask, key.offset, key.offsetMask);
    rtnl_u32_set_classid(one, handleOf(filter.minor));
    rtnl_u32_set_cls_terminal(one);
  }

  void removeLink(const std::string& device) {
    rtnl_link* link = rtnl_link_alloc();
    rtnl_link_set_name(link, device.c_str());
    rtnl_link_delete(socket_.get(), link);
    rtnl_link_put(link);
  }

  Socket socket_;
};

}  // namespace

base::Result<std::unique_ptr<Kernel>> openKernel() {
  Socket socket(nl_socket_alloc());
  if (socket == nullptr) return base::fail(base::ErrorCode::kInternal, "no memory for a netlink socket");
  if (const int code = nl_connect(socket.get(), NETLINK_ROUTE); code < 0)
    return base::fail(base::ErrorCode::kUnsupported, fmt::format("netlink: {}", nl_geterror(code)));
  return std::make_unique<NetlinkKernel>(std::move(socket));
}

}  // namespace trainyard::agent
