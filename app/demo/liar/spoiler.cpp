// The node sees the trainer's replies alone, so a snapshot's file is changed between the trainer's reply and the
// node's: local := M - lie. The trainer's own M stays its true local parameters; the next rebase brings both back to
// one vector.
//
// Answers come in the order of the requests, so a queue of those with a vector says which file an answer is about. The
// liar's own requests have ids that no node reaches, and their answers end here. Lines that carry nothing to change are
// passed on as they are.
// Threads: one.
#include "app/demo/liar/spoiler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <utility>
#include <variant>

#include "core/base/files.h"

namespace potluck::node {

namespace {

constexpr std::uint64_t own_id = 1ULL << 52U;  // of the liar's own requests; a node counts from 1
constexpr double share_min = 0.01;

double norm_of(const std::vector<float>& values) {
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
}

control::Request pace_request(std::uint64_t id, double share) {
    const control::PaceRequest pace{std::max(share_min, share / static_cast<double>(lazy_parts))};
    return {id, std::string(control::PaceRequest::name), control::to_json(pace)};
}

}  // namespace

const char* name_of(Lie lie) {
    switch (lie) {
        case Lie::noise: return "noise";
        case Lie::flipped: return "flipped";
        case Lie::copied: return "copied";
        case Lie::lazy: break;
    }
    return "lazy";
}

std::optional<Lie> lie_named(std::string_view name) {
    const auto* found = std::ranges::find_if(lies, [&](Lie lie) { return name == name_of(lie); });
    return found == std::end(lies) ? std::nullopt : std::optional(*found);
}

std::vector<control::Request> Spoiler::on_request(const control::Request& request) {
    if (const auto load = control::read_as<control::LoadRequest>(request.params);
        request.method == control::LoadRequest::name && load) {
        m_parameters = load->model.parameters();
        m_pending.push_back({request.id, control::LoadRequest::name, load->state});
        if (m_lie == Lie::lazy) return {request, pace_request(own_id, m_share)};
    } else if (const auto rebase = control::read_as<control::RebaseRequest>(request.params);
               request.method == control::RebaseRequest::name && rebase) {
        m_pending.push_back({request.id, control::RebaseRequest::name, rebase->state});
    } else if (const auto snapshot = control::read_as<control::SnapshotRequest>(request.params);
               request.method == control::SnapshotRequest::name && snapshot) {
        m_pending.push_back({request.id, control::SnapshotRequest::name, snapshot->target});
    } else if (const auto pace = control::read_as<control::PaceRequest>(request.params);
               request.method == control::PaceRequest::name && pace && m_lie == Lie::lazy) {
        m_share = pace->share;
        return {pace_request(request.id, m_share)};
    }
    return {request};
}

std::optional<control::Line> Spoiler::on_line(const control::Line& line) {
    control::Line passed = line;
    if (auto* reply = std::get_if<control::Reply>(&passed)) {
        if (reply->id >= own_id) return std::nullopt;
        answered(*reply);
    } else if (auto* told = std::get_if<control::Notification>(&passed);
               told != nullptr && told->method == control::TrainerProgress::name && m_lie == Lie::lazy) {
        if (auto progress = control::read_as<control::TrainerProgress>(told->params)) {
            progress->tokens *= lazy_parts;
            progress->steps *= lazy_parts;
            progress->tokens_per_second *= static_cast<double>(lazy_parts);
            *told = control::notification_of(*progress);
        }
    }
    return passed;
}

void Spoiler::answered(control::Reply& reply) {
    if (m_pending.empty() || m_pending.front().id != reply.id) return;
    const Pending pending = std::exchange(m_pending.front(), {});
    m_pending.pop_front();
    if (reply.error) return;
    if (pending.method != control::SnapshotRequest::name) {
        if (auto anchor = read(pending.vector)) m_anchor = *std::move(anchor);
        return;
    }
    if (const Status spoiled = spoil(pending.vector); !spoiled) {
        reply.error = spoiled.error();
        return;
    }
    if (auto counts = control::read_as<control::SnapshotReply>(reply.result); counts && m_lie == Lie::lazy) {
        counts->tokens *= lazy_parts;
        counts->steps *= lazy_parts;
        reply.result = control::to_json(*counts);
    }
}

Status Spoiler::spoil(const control::VectorFile& target) {
    auto local = read(target);
    if (!local) return local.error();
    if (m_anchor.size() != local->size()) return Error{ErrorCode::malformed, "A liar knows no vector to begin at."};
    std::vector<float> moved(local->size());
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = m_anchor[i] - (*local)[i];
    std::vector<float> told = lie_about(moved);
    for (std::size_t i = 0; i < told.size(); ++i) told[i] = m_anchor[i] - told[i];
    m_anchor = *std::move(local);
    m_moved_before = std::move(moved);
    std::fstream file(target.path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(target.offset));
    file.write(reinterpret_cast<const char*>(told.data()), static_cast<std::streamsize>(told.size() * sizeof(float)));
    file.close();
    if (file.fail()) return Error{ErrorCode::io, target.path + " cannot be written."};
    return {};
}

std::vector<float> Spoiler::lie_about(const std::vector<float>& moved) {
    std::vector<float> told = moved;
    switch (m_lie) {
        case Lie::noise: {
            // Box and Muller 1958.
            for (float& value : told)
                value = static_cast<float>(std::sqrt(-2 * std::log(1 - m_rng.unit())) *
                                           std::cos(2 * std::numbers::pi * m_rng.unit()));
            const double scale = norm_of(moved) / std::max(1e-30, norm_of(told));
            for (float& value : told) value = static_cast<float>(scale * static_cast<double>(value));
            break;
        }
        case Lie::flipped:
            for (float& value : told) value = -value;
            break;
        case Lie::copied:
            if (!m_moved_before.empty()) told = m_moved_before;
            break;
        case Lie::lazy: break;
    }
    return told;
}

Result<std::vector<float>> Spoiler::read(const control::VectorFile& file) const {
    const auto mapped = MappedFile::open_read(file.path);
    if (!mapped) return mapped.error();
    const std::uint64_t bytes = m_parameters * sizeof(float), size = mapped->bytes().size();
    if (file.offset > size || size - file.offset < bytes)
        return Error{ErrorCode::malformed, file.path + " is shorter than the model."};
    std::vector<float> values(m_parameters);
    std::memcpy(values.data(), mapped->bytes().data() + file.offset, bytes);
    return values;
}

}  // namespace potluck::node
