// POTLUCK_VECTOR_CLONES before a function compiles it for several instruction sets and picks the widest that the
// processor has when the program starts. Only for arithmetic of one computer: what all must agree on lives in
// core/numerics.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define POTLUCK_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define POTLUCK_VECTOR_CLONES
#endif
