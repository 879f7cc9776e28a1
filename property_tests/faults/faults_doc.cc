// SPDX-License-Identifier: Apache-2.0
// Prints docs/faults.md.
#include <cstdio>

#include "harness/faults/markdown.h"

int main() { return std::fputs(kvexact::FaultsMarkdown().c_str(), stdout) < 0 ? 1 : 0; }
