// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/generate.h"

#include "harness/generate/build_case.h"

namespace kvexact {

Case Generate(const CaseSpec& spec) {
  Check(spec);
  Case c;
  c.op = spec.config.op;
  c.name = ToText(spec);
  c.notes["spec"] = c.name;
  c.notes["dist"] = generate::NameOf(spec.values);
  if (NonFinite(spec)) c.notes["special"] = generate::NameOf(spec.special);
  if (c.row().family == spec::Family::kCompress) {
    generate::BuildCompressCase(spec, c);
  } else {
    generate::BuildIndexerQCase(spec, c);
  }
  return c;
}

}  // namespace kvexact
