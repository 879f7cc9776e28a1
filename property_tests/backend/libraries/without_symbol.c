// SPDX-License-Identifier: Apache-2.0
int kvexact_something_else(void);

int kvexact_something_else(void) { return 1; }
