#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/virtual_loop.h"
#include "kube/api_client.h"

namespace trainyard::test {

// An API server of a few objects, for who only asks and writes: every request is answered a millisecond later
// by what the test derives from this. Watches never begin.
class FakeApi : public kube::ApiClient {
 public:
  explicit FakeApi(base::VirtualLoop& loop) : loop_(loop) {}

  // Whatever it returns is the answer instead.
  std::function<std::optional<base::Error>(const kube::ApiRequest&)> fault;

  void request(kube::ApiRequest request, kube::ApiCallback done) override {
    loop_.postAfter(std::chrono::milliseconds(1),
                    [this, request = std::move(request), done = std::move(done)] {
                      if (fault) {
                        if (auto error = fault(request)) return done(base::fail(*error));
                      }
                      done(answer(request));
                    });
  }
  std::unique_ptr<net::StreamHandle> watch(kube::ApiRequest, std::function<void(std::string)>,
                                           std::function<void(base::Result<void>)>) override {
    return nullptr;
  }

 protected:
  [[nodiscard]] base::Instant now() const { return loop_.now(); }

 private:
  virtual base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) = 0;

  base::VirtualLoop& loop_;
};

}  // namespace trainyard::test
