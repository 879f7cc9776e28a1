// SPDX-License-Identifier: Apache-2.0
// One run on several GPUs of this machine.
#pragma once

#include <string>
#include <vector>

#include "harness/report/merge.h"

namespace kvexact::cli {

// "0,1,3", or names such as "GPU-8f3e": what CUDA_VISIBLE_DEVICES takes, each once. Throws InputError.
std::vector<std::string> DevicesOfText(const std::string& text);

// Runs this program once a device, at the same time: `kvexact ARGUMENTS --shard I/N --json FILE --quiet`, with
// CUDA_VISIBLE_DEVICES set to the device. The parts are those of `whole`. Returns the merged report. Throws InputError
// if a process writes no report.
Report RunOnDevices(const std::vector<std::string>& devices, const std::vector<std::string>& arguments,
                    const Shard& whole);

}  // namespace kvexact::cli
