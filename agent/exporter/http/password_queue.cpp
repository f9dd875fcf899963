// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/password_queue.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace fabric::exporter {

// nullptr: the client has not failed lately.
const PasswordQueue::Failures* PasswordQueue::failures_of(const std::string& client, Clock::time_point now) const {
  const auto known = failed_.find(client);
  if (known == failed_.end() || now - known->second.last >= limits_.memory) return nullptr;
  return &known->second;
}

PasswordQueue::Standing PasswordQueue::standing(const std::string& client, Clock::time_point now) const {
  if (failures_of(client, now) != nullptr) return Standing::failed;
  return trusted_.contains(client) ? Standing::trusted : Standing::unknown;
}

bool PasswordQueue::trust(const std::string& client) {
  return trusted_.size() < limits_.trusted && trusted_.insert(client).second;
}

double PasswordQueue::budget(const std::string& client, Clock::time_point now) const {
  const Failures* failures = failures_of(client, now);
  if (failures == nullptr) return limits_.failures;
  const double recovered = std::chrono::duration<double>(now - failures->last) / limits_.recovery;
  return std::min<double>(limits_.failures, failures->left + recovered);
}

size_t PasswordQueue::waiting_of(const std::string& client) const {
  return static_cast<size_t>(std::ranges::count(waiting_, client, &PasswordCheck::client));
}

void PasswordQueue::drop(std::list<PasswordCheck>::iterator check, Refused why, Dropped& dropped) {
  for (uint64_t request : check->requests) dropped.emplace_back(request, why);
  waiting_.erase(check);
}

PasswordQueue::Dropped PasswordQueue::add(PasswordCheck check, uint64_t request, Clock::time_point now) {
  if (running_ && running_->client == check.client && running_->digest == check.digest) {
    running_->requests.push_back(request);
    return {};
  }
  for (PasswordCheck& other : waiting_)
    if (other.client == check.client && other.digest == check.digest) {
      other.requests.push_back(request);
      return {};
    }
  const Standing own_standing = standing(check.client, now);
  const size_t own = waiting_of(check.client);
  if (own_standing == Standing::failed && budget(check.client, now) < static_cast<double>(own) + 1)
    return {{request, Refused::budget}};

  Dropped dropped;
  if (waiting_.size() >= limits_.waiting) {
    std::map<std::string_view, size_t> counts;
    for (const PasswordCheck& other : waiting_) ++counts[other.client];
    // The last one of the client of the lowest standing that, among equals, has the most.
    auto worst = waiting_.end();
    std::pair<Standing, size_t> rank{own_standing, own + 1};
    for (auto other = waiting_.begin(); other != waiting_.end(); ++other) {
      const std::pair<Standing, size_t> others{standing(other->client, now), counts[other->client]};
      if (others < rank || (others == rank && worst == waiting_.end())) continue;
      rank = others;
      worst = other;
    }
    if (worst == waiting_.end()) return {{request, Refused::full}};
    drop(worst, Refused::full, dropped);
  }
  check.requests = {request};
  waiting_.push_back(std::move(check));
  return dropped;
}

const PasswordCheck* PasswordQueue::start(Clock::time_point now) {
  if (running_ || waiting_.empty()) return nullptr;
  auto next = waiting_.end();
  std::pair<Standing, uint64_t> order{Standing::failed, UINT64_MAX};
  for (auto check = waiting_.begin(); check != waiting_.end(); ++check) {
    const Failures* failures = failures_of(check->client, now);
    if (failures != nullptr && now < failed_from_) continue;
    std::pair<Standing, uint64_t> own{standing(check->client, now), 0};
    if (failures != nullptr) own.second = failures->turn;
    if (own >= order) continue;
    order = own;
    next = check;
  }
  if (next == waiting_.end()) return nullptr;
  running_ = std::move(*next);
  waiting_.erase(next);
  return &*running_;
}

std::optional<PasswordQueue::Clock::time_point> PasswordQueue::next_time() const {
  if (running_ || waiting_.empty()) return std::nullopt;
  return failed_from_;
}

const PasswordCheck* PasswordQueue::running() const {
  if (!running_) return nullptr;
  return &*running_;
}

void PasswordQueue::put_back() {
  waiting_.push_front(std::move(*running_));
  running_.reset();
}

PasswordCheck PasswordQueue::finished(bool is_correct, Clock::duration took, Clock::time_point now, Dropped& dropped) {
  PasswordCheck check = std::move(*running_);
  running_.reset();
  if (failures_of(check.client, now) != nullptr)
    failed_from_ = now + std::chrono::duration_cast<Clock::duration>(took * (1 / limits_.share - 1));
  if (is_correct) {
    failed_.erase(check.client);
    return check;
  }
  const double left = budget(check.client, now) - 1;
  if (!failed_.contains(check.client) && failed_.size() >= limits_.clients)
    failed_.erase(std::ranges::min_element(failed_, {}, [](const auto& each) { return each.second.last; }));
  failed_[check.client] = {left, now, ++turns_};
  while (static_cast<double>(waiting_of(check.client)) > std::max(0.0, left)) {
    const auto last = std::ranges::find(waiting_.rbegin(), waiting_.rend(), check.client, &PasswordCheck::client);
    drop(std::next(last).base(), Refused::budget, dropped);
  }
  return check;
}

void PasswordQueue::clear() {
  waiting_.clear();
  if (running_) running_->requests.clear();
}

}  // namespace fabric::exporter
