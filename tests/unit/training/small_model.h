// A decoder that learns something within a second.
#pragma once

#include "core/model/model_spec.h"

namespace potluck::test {

inline model::ModelSpec small_model() {
    model::ModelSpec spec;
    spec.vocabulary = 32;
    spec.context = 16;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 32;
    return spec;
}

}  // namespace potluck::test
