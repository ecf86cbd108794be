#include "model/charge.h"

#include <algorithm>
#include <utility>

#include "model/device_names.h"
#include "model/gang_size.h"
#include "model/one_per_node.h"

namespace trainyard::model {

const Resources* Charge::requestsOf(std::string_view role) const {
  const auto known =
      std::find_if(members.begin(), members.end(), [&](const Member& each) { return each.role == role; });
  return known == members.end() ? nullptr : &known->requests;
}

const QueueName& chargedQueue(const Job& job) {
  return job.status.gang.charge ? job.status.gang.charge->queue : job.spec.queue;
}

const QueueName& shownQueue(const Job& job) {
  if (job.status.gang.charge || job.status.queue.empty()) return chargedQueue(job);
  return job.status.queue;
}

bool chargedPreemptible(const Job& job) {
  return job.status.gang.charge ? job.status.gang.charge->preemptible : job.spec.preemptible;
}

const Resources* chargedRequests(const Job& job, std::string_view role) {
  return chargedRequests(job.spec, job.status.gang, role);
}

const Resources* chargedRequests(const JobSpec& spec, const GangRecord& record, std::string_view role) {
  if (record.charge) {
    if (const Resources* charged = record.charge->requestsOf(role)) return charged;
  }
  const Role* known = spec.findRole(role);
  return known == nullptr ? nullptr : &known->shape.requests;
}

const Charge::Backfill* backfillCondition(const Job& job, const Job& holder) {
  const auto& charge = job.status.gang.charge;
  if (!charge) return nullptr;
  const auto found = std::find_if(charge->backfilled.begin(), charge->backfilled.end(),
                                  [&](const Charge::Backfill& each) { return each.uid == holder.uid; });
  return found == charge->backfilled.end() ? nullptr : &*found;
}

Charge makeCharge(const JobSpec& spec, QueueName queue, int priority) {
  Charge charge{std::move(queue), spec.preemptible, priority, {}};
  for (const Role& role : spec.roles) {
    Resources requests = role.shape.requests;
    const auto extended = requests.extendedAll();
    for (const auto& [name, amount] : extended) {
      if (isOnePerNode(name) || isContest(name)) requests.setExtended(name, 0);
    }
    charge.members.push_back({role.name, std::move(requests)});
  }
  return charge;
}

bool sameCharge(const Job& job, const QueueName& queue) {
  const auto& charge = job.status.gang.charge;
  if (!charge) return true;
  const Charge now = makeCharge(job.spec, queue, charge->priority);
  if (charge->queue != now.queue) return false;
  // What the owner of a Gang drops is given up. Other jobs keep their roles.
  if (job.owner == nullptr && charge->members.size() != now.members.size()) return false;
  return std::all_of(now.members.begin(), now.members.end(), [&](const Charge::Member& member) {
    const Resources* charged = charge->requestsOf(member.role);
    // Admission may have enlarged the charged requests, but never reduced them.
    if (charged == nullptr || !charged->covers(member.requests)) return false;
    // The members of a Gang are as many as its owner has made; what joins is charged when it joins.
    const bool elastic = job.owner != nullptr || (job.spec.elastic && job.spec.elastic->role == member.role);
    const Role& role = *job.spec.findRole(member.role);
    return elastic || gangMembers(job, role) == role.replicas;
  });
}

}  // namespace trainyard::model
