#include "core/run/jury/juror_verdict.h"

#include <algorithm>

namespace potluck::run {

void Suspension::write(ByteWriter& out) const { wire::write(out, *this); }

Suspension Suspension::read(ByteReader& in) {
    auto suspension = wire::read<Suspension>(in);
    const auto is_out_of_order = [](const SignedVerdict& a, const SignedVerdict& b) { return a.juror >= b.juror; };
    if (std::ranges::adjacent_find(suspension.verdicts, is_out_of_order) != suspension.verdicts.end()) in.fail();
    for (SignedVerdict& one : suspension.verdicts) one.verdict.person = suspension.person;
    return suspension;
}

}  // namespace potluck::run
