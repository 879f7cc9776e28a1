// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/wide.h"

#include <array>

namespace kvexact::oracle {

std::string ToString(const Wide& x) {
  std::array<char, 80> text{};
  const int length = mpfr_snprintf(text.data(), text.size(), "%.30Rg", x.raw());
  return length > 0 ? std::string(text.data()) : std::string("?");
}

}  // namespace kvexact::oracle
