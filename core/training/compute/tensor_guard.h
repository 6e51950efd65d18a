// Turns what LibTorch throws into an Error, at the border of this folder. Only for files that name tensors.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <c10/util/Exception.h>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/training/memory/memory_error.h"

namespace potluck::training {

/// Calls `body`, which returns a Result<T> or Status, and returns its result, or what it threw as an Error.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return out_of_memory_error();
    } catch (const c10::OutOfMemoryError&) {
        return out_of_memory_error();
    } catch (const c10::Error& error) {
        const std::string_view what = error.what_without_backtrace();
        if (what.find("allocate memory") != std::string_view::npos) return out_of_memory_error();
        return Error{ErrorCode::unavailable,
                     "LibTorch failed: " + std::string(utf8_prefix(what, torch_words_bytes_max))};
    } catch (const std::exception& error) {
        // oneDNN reports out-of-memory as a failure to create a primitive.
        const std::string_view what = error.what();
        if (what.find("could not create") != std::string_view::npos) return out_of_memory_error();
        return Error{ErrorCode::unavailable,
                     "A library of LibTorch's failed: " + std::string(utf8_prefix(what, torch_words_bytes_max))};
    }
}

}  // namespace potluck::training
