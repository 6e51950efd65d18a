// What this folder includes of LibTorch, precompiled: it costs 5 s and 0.75 GB for every file that reads it afresh.
// torch/torch.h would cost three times as much.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
