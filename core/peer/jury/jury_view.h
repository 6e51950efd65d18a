// What the node shows of the jury of a run: who has signed verdicts, who is shut out, and how this member itself does.
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/peer/jury/juror.h"
#include "core/peer/jury/verdicts.h"

namespace potluck::peer {

struct JuryView {
    /// A seat. One whose verdicts nobody shares may be lying, or alone in having measured enough.
    struct Seat {
        PeerId id;
        std::size_t verdicts = 0, unshared = 0;
    };
    struct Shut {
        PeerId person;
        run::Suspended state;
        RoundId since;                             // the list's that suspended it; 0 if a table told of it
        std::optional<run::JurorVerdict> figures;  // of the first juror; nothing if a table told of it
    };
    /// A person of whom too few jurors have said so far that it does not work.
    struct Accused {
        PeerId person;
        std::size_t verdicts = 0;
        run::JurorVerdict figures;
    };
    /// This member's own contributions, as its own trainer has measured them.
    struct Own {
        std::uint32_t measured = 0;
        double own = 0, median = 0;  // nats a token; a median of 0 is not known yet
        bool helps = true;
    };
    std::vector<Seat> seats;
    std::vector<Shut> suspended;  // at present
    std::vector<Accused> accused;
    std::uint64_t measured = 0;  // contributions, by this member
    Duration time_taken{0};      // by that
    std::optional<Own> own;
    std::size_t against_own = 0;  // jurors that have accused this member's person
};

/// Nothing in a run without a jury.
[[nodiscard]] std::optional<JuryView> jury_view(const Context& context, const ChainLog& chain, const Verdicts& verdicts,
                                                const Juror& juror);
/// The suspension of a person; nothing if it is not suspended at present.
[[nodiscard]] std::optional<JuryView::Shut> shut_of(const ChainLog& chain, const PeerId& person);

}  // namespace potluck::peer
