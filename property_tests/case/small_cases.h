// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/case/case.h"

namespace kvexact::test {

// A valid case of the operation that has a token of every fate. Compression: ratio 2, blocks of 2
// positions, pages of 2 tokens, 2 requests, 5 tokens and one behind num_actual:
//   token  request  position  fate
//   0      0        1         live
//   1      0        2         ends no window; request, KV slot and position column garbage where allowed
//   2      0        3         live
//   3      1        3         negative KV slot (live where there is none)
//   4      garbage            negative slot
//   5      garbage            behind num_actual
// Q: 2 tokens and one behind num_actual, 3 heads. No recorded outputs.
Case SmallCase(spec::Operation op);

// The same without tokens, requests, state blocks, table rows and pages.
Case EmptyCase(spec::Operation op);

std::vector<spec::Operation> AllOperations();

// Sets element i of a tensor whose elements have type T.
template <class T>
void Set(Tensor& tensor, std::int64_t i, T value) {
  tensor.as<T>()[i] = value;
}

}  // namespace kvexact::test
