// SPDX-License-Identifier: Apache-2.0
// Run-time failure as a value. Neither tl::expected nor g++ 12's std::expected warns about a dropped result, and an
// ignored write error is the worst fault of a settings agent.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace fabric {

// A failure. `code` is a positive errno, or 0 if none fits (a parse error, for example). `what` names the subject and
// the action: "mlx5_0/1: set pfc", "/etc/fabric-agent/config.toml:12:3: ...".
struct Error {
  int code = 0;
  std::string what;

  // "what: No such device (ENODEV)", or only `what` if there is no errno.
  [[nodiscard]] std::string text() const;

  bool operator==(const Error&) const = default;
};

// The name of the errno, "EOPNOTSUPP"; "errno 4711" if it is unknown.
std::string errno_name(int code);

inline Error error(int code, std::string what) { return Error{code, std::move(what)}; }

// A value or an Error; Result<void>: success or an Error. Check ok() before value(): value() of an Error terminates the
// program.
template <class T>
class [[nodiscard]] Result {
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

 public:
  Result() requires std::is_void_v<T>
  = default;
  Result(Value value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error failure) : state_(std::in_place_index<1>, std::move(failure)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  Value& value() & { return std::get<0>(state_); }
  const Value& value() const& { return std::get<0>(state_); }
  Value&& value() && { return std::get<0>(std::move(state_)); }
  Value& operator*() & { return value(); }
  const Value& operator*() const& { return value(); }
  Value&& operator*() && { return std::move(*this).value(); }
  Value* operator->() { return &value(); }
  const Value* operator->() const { return &value(); }
  Value value_or(Value other) && {
    if (ok()) return std::move(*this).value();
    return other;
  }

  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<Value, Error> state_;
};

}  // namespace fabric
