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

// An API server with a few objects, for code that only reads and writes. A derived class answers every
// request, a millisecond later. Watches never start.
class FakeApi : public kube::ApiClient {
 public:
  explicit FakeApi(base::VirtualLoop& loop) : loop_(loop) {}

  // Called before the answer; an error that it returns is the answer instead.
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
