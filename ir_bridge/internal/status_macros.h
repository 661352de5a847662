// Early return on error, for files where every second line can fail.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_STATUS_MACROS_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETUPLE_RETURN_IF_ERROR(expr)                                                         \
  do {                                                                                        \
    if (absl::Status retuple_status_ = (expr); !retuple_status_.ok()) return retuple_status_; \
  } while (false)

#define RETUPLE_CONCAT_INNER_(a, b) a##b
#define RETUPLE_CONCAT_(a, b) RETUPLE_CONCAT_INNER_(a, b)
#define RETUPLE_ASSIGN_OR_RETURN(lhs, expr) \
  RETUPLE_ASSIGN_OR_RETURN_IMPL_(RETUPLE_CONCAT_(retuple_statusor_, __LINE__), lhs, expr)
#define RETUPLE_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) return tmp.status();                  \
  lhs = *std::move(tmp)

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_STATUS_MACROS_H_
