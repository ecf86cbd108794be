#include "launch/handshake.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "launch/proofs.h"

namespace trainyard::launch {
namespace {

constexpr std::string_view kMagic = "TYL1";
constexpr std::size_t kNonce = 16;
constexpr std::size_t kDigest = 32;

}  // namespace

Handshake::Handshake(bool server, std::string token)
    : server_(server), token_(std::move(token)), nonce_(kNonce, '\0') {
  if (::getrandom(nonce_.data(), nonce_.size(), 0) != static_cast<ssize_t>(kNonce)) nonce_.clear();
}

std::string Handshake::greeting() const { return server_ ? std::string(kMagic) + nonce_ : std::string(); }

std::string Handshake::proof(std::string_view what) const {
  return hmacSha256(token_, std::string(what) + nonces_);
}

ChannelKeys Handshake::keys() const {
  std::string fromClient = proof("from client");
  std::string fromServer = proof("from server");
  if (server_) return {.send = std::move(fromServer), .take = std::move(fromClient)};
  return {.send = std::move(fromClient), .take = std::move(fromServer)};
}

Handshake::Progress Handshake::step(std::string& in, std::string& out) {
  const std::size_t hello = kMagic.size() + kNonce;
  if (!server_ && answered_) {
    if (in.size() < kDigest) return Progress::kNeedsMore;
    if (!sameDigest(in.substr(0, kDigest), proof("server"))) return Progress::kRefused;
    in.erase(0, kDigest);
    return Progress::kDone;
  }
  if (in.size() < (server_ ? hello + kDigest : hello)) return Progress::kNeedsMore;
  if (!in.starts_with(kMagic)) return Progress::kRefused;
  const std::string theirs = in.substr(kMagic.size(), kNonce);
  nonces_ = server_ ? nonce_ + theirs : theirs + nonce_;
  if (server_) {
    if (!sameDigest(in.substr(hello, kDigest), proof("client"))) return Progress::kRefused;
    in.erase(0, hello + kDigest);
    out += proof("server");
    return Progress::kDone;
  }
  in.erase(0, hello);
  out.append(kMagic).append(nonce_).append(proof("client"));
  answered_ = true;
  return Progress::kAnswered;
}

}  // namespace trainyard::launch
