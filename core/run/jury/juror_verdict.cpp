#include "core/run/jury/juror_verdict.h"

#include "core/base/check.h"

namespace potluck::run {

namespace {

/// Two's complement, as all integers here are written.
void write_figure(ByteWriter& out, std::int32_t figure) { out.u32(static_cast<std::uint32_t>(figure)); }

std::int32_t read_figure(ByteReader& in) {
    const auto figure = static_cast<std::int32_t>(in.u32());
    if (figure > figure_max || figure < -figure_max) in.fail();
    return figure;
}

}  // namespace

void JurorVerdict::write(ByteWriter& out) const {
    out.raw(person.bytes);
    write_figures(out);
}

JurorVerdict JurorVerdict::read(ByteReader& in) {
    PeerId person;
    in.array(person.bytes);
    return read_figures(in, person);
}

void JurorVerdict::write_figures(ByteWriter& out) const {
    out.u32(times);
    out.u64(first.value);
    out.u64(last.value);
    out.u32(judged);
    write_figure(out, own);
    write_figure(out, other);
    write_figure(out, median);
}

JurorVerdict JurorVerdict::read_figures(ByteReader& in, const PeerId& person) {
    JurorVerdict verdict;
    verdict.person = person;
    verdict.times = in.u32();
    verdict.first.value = in.u64();
    verdict.last.value = in.u64();
    verdict.judged = in.u32();
    verdict.own = read_figure(in);
    verdict.other = read_figure(in);
    verdict.median = read_figure(in);
    if (verdict.times >= suspensions_max || verdict.judged == 0) in.fail();
    if (verdict.first > verdict.last || verdict.last.value > judged_round_max) in.fail();
    return verdict;
}

void Suspension::write(ByteWriter& out) const {
    POTLUCK_CHECK(verdicts.size() <= verdicts_per_suspension_max);
    out.raw(person.bytes);
    out.u8(static_cast<std::uint8_t>(verdicts.size()));
    for (const SignedVerdict& one : verdicts) {
        out.raw(one.juror.bytes);
        one.verdict.write_figures(out);
        out.raw(one.signature);
    }
}

Suspension Suspension::read(ByteReader& in) {
    Suspension suspension;
    in.array(suspension.person.bytes);
    const std::size_t count = in.u8();
    if (count == 0 || count > verdicts_per_suspension_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        SignedVerdict one;
        in.array(one.juror.bytes);
        one.verdict = JurorVerdict::read_figures(in, suspension.person);
        in.array(one.signature);
        if (i > 0 && suspension.verdicts.back().juror >= one.juror) in.fail();
        suspension.verdicts.push_back(one);
    }
    return suspension;
}

}  // namespace potluck::run
