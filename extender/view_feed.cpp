#include "extender/view_feed.h"

#include <utility>

namespace trainyard::extender {

ViewFeed::ViewFeed(kube::ApiClient& api, base::Executor& executor, base::Rng rng, const base::Logger& log,
                   ExtenderMetrics& metrics, GuardService& service)
    : log_(log),
      service_(service),
      watch_(api, executor, rng, log, metrics,
             [this](auto facts, auto settled) {
               if (!stale_) service_.publish(std::move(facts), settled);
             }),
      contact_(api, executor,
               ApiContact::Listener{.lost = [this](std::string_view why) { contactLost(why); },
                                    .regained = [this] { contactRegained(); },
                                    .lastContact = [this] { return watch_.lastContact(); }}) {}

void ViewFeed::start() {
  watch_.start();
  contact_.start();
}

// Another replica may still have contact: kube-scheduler's pods wait, or are checked there.
void ViewFeed::contactLost(std::string_view why) {
  log_.error("requests are not answered while the caches are too old", {{"error", why}});
  service_.withdraw();
  stale_ = true;
}

void ViewFeed::contactRegained() {
  log_.info("the API server is in contact again");
  stale_ = false;
  watch_.publishAgain();
}

}  // namespace trainyard::extender
