// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/taped.h"

#include "base/parse.h"

namespace fabric {
namespace {

void put_u16(std::string& out, uint16_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put_bytes(std::string& out, View8 bytes) { out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

Message message_of(std::string_view part) {
  Message message;
  if (part.size() < sizeof message.type) return message;
  std::memcpy(&message.type, part.data(), sizeof message.type);
  const auto payload = std::as_bytes(std::span(part)).subspan(sizeof message.type);
  message.payload.assign(payload.begin(), payload.end());
  return message;
}

class TapedNetlink final : public Netlink {
 public:
  TapedNetlink(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), ask_(ask), tape_(std::move(tape)) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    std::string question;
    put_u16(question, type);
    put_u16(question, flags);
    put_bytes(question, payload);
    return live_ ? record(question, live_->talk(type, flags, payload)) : replay(question);
  }

 private:
  Result<std::vector<Message>> record(const std::string& question, Result<std::vector<Message>> replies) {
    std::vector<std::string> parts;
    if (replies)
      for (const Message& reply : *replies) {
        put_u16(parts.emplace_back(), reply.type);
        put_bytes(parts.back(), reply.payload);
      }
    tape_->note(ask_, question, replies ? Answer(std::move(parts)) : Answer(replies.error()));
    return replies;
  }

  Result<std::vector<Message>> replay(const std::string& question) {
    const Answer* known = tape_->find(ask_, question);
    if (known == nullptr) return error(EOPNOTSUPP, "not in this capture");
    if (!known->ok()) return known->error();
    std::vector<Message> replies;
    for (const std::string& part : **known) replies.push_back(message_of(part));
    return replies;
  }

  std::unique_ptr<Netlink> live_;
  Ask ask_;
  std::shared_ptr<Tape> tape_;
};

class TapedStatistics final : public ethtool::Statistics {
 public:
  TapedStatistics(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), tape_(std::move(tape)) {}

  Result<std::vector<Counter>> read(const std::string& netdev) override {
    if (!live_) return replay(netdev);
    auto counters = live_->read(netdev);
    std::vector<std::string> parts;
    if (counters)
      for (const Counter& counter : *counters)
        parts.push_back(counter.name.str() + "=" + std::to_string(counter.value));
    tape_->note(Ask::statistics, netdev, counters ? Answer(std::move(parts)) : Answer(counters.error()));
    return counters;
  }

 private:
  Result<std::vector<Counter>> replay(const std::string& netdev) {
    const Answer* known = tape_->find(Ask::statistics, netdev);
    if (known == nullptr) return error(EOPNOTSUPP, netdev + ": statistics: not in this capture");
    if (!known->ok()) return known->error();
    std::vector<Counter> counters;
    for (const std::string& part : **known) {
      const size_t equals = part.rfind('=');
      const auto value = equals == std::string::npos
                             ? std::nullopt
                             : parse_number<uint64_t>(std::string_view(part).substr(equals + 1));
      if (value) counters.push_back({clean_text(std::string_view(part).substr(0, equals)), *value});
    }
    return counters;
  }

  std::unique_ptr<ethtool::Statistics> live_;
  std::shared_ptr<Tape> tape_;
};

}  // namespace

std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape) {
  return std::make_unique<TapedNetlink>(std::move(live), ask, std::move(tape));
}

std::unique_ptr<ethtool::Statistics> on_tape(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape) {
  return std::make_unique<TapedStatistics>(std::move(live), std::move(tape));
}

}  // namespace fabric
