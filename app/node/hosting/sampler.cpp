#include "app/node/hosting/sampler.h"

#include "app/node/trainer/trainer_task.h"
#include "core/base/json.h"

namespace potluck::node {

Result<data::Tokenizer> tokenizer_of(const RunSession& session) {
    const run::Tokenizer& tokenizer = session.plan().manifest.tokenizer;
    if (tokenizer.kind == run::TokenizerKind::bytes) return data::Tokenizer::bytes();
    if (tokenizer.kind == run::TokenizerKind::none) {
        return Error{ErrorCode::unavailable,
                     "This run's host gave tokens without a tokenizer; export the model and decode its tokens there."};
    }
    // The blobs keep their files while the tokenizer is read.
    std::vector<peer::BlobPointer> blobs;
    for (const run::BlobRef& blob : tokenizer.blobs()) {
        blobs.push_back(session.swarm().blob(blob.root));
        if (!blobs.back())
            return Error{ErrorCode::unavailable, "The run's tokenizer is still being fetched; try again in a moment."};
    }
    return data::Tokenizer::open({tokenizer.kind, blobs.front()->path(), blobs.back()->path()});
}

Result<RoundId> newest_state(const RunSession& session) {
    const auto held = session.store().held();
    if (held.empty()) return Error{ErrorCode::unavailable, "The model is still being fetched; try again in a moment."};
    return held.back().round;
}

void Sampler::sample(const SamplePlan& plan, std::function<void(const Result<std::string>&)> done) {
    m_owner.check();
    RunSession* session = m_node.session();
    if (session == nullptr)
        return done(Error{ErrorCode::not_found, "This node is in no run; join one with an invite first."});
    if (*m_busy) return done(Error{ErrorCode::unavailable, "Another sample is being made; try again in a moment."});
    const auto round = newest_state(*session);
    if (!round) return done(round.error());
    auto tokenizer = tokenizer_of(*session);
    if (!tokenizer) return done(tokenizer.error());
    std::vector<std::uint16_t> prompt;
    // Training text begins its documents with the separator, or is plain lines.
    if (plan.prompt.empty() && tokenizer->separator()) prompt.push_back(*tokenizer->separator());
    if (prompt.empty()) tokenizer->encode(plan.prompt.empty() ? "\n" : plan.prompt, prompt);
    if (prompt.empty()) prompt.push_back(0);

    const peer::VectorPlace place = session->store().state_place(*round);
    const run::Manifest& manifest = session->plan().manifest;
    control::SampleRequest request;
    request.state = {place.file.string(), place.offset};
    request.prompt.assign(prompt.begin(), prompt.end());
    request.tokens = plan.tokens;
    request.temperature = plan.temperature;
    request.seed = plan.seed;
    TrainerQuestion question;
    question.program = session->plan().trainer_program;
    question.error_file = session->plan().trainer_errors;
    question.load = {manifest.model.to_json(), manifest.recipe.to_json(), request.state, 0};
    question.method = "sample";
    question.params = to_json(request);
    *m_busy = true;
    ask_trainer(
        m_loop, std::move(question),
        [done = std::move(done), busy = m_busy,
         tokens = std::make_shared<data::Tokenizer>(std::move(*tokenizer))](const Result<nlohmann::json>& answer) {
            *busy = false;
            control::SampleReply reply;
            if (!answer) return done(answer.error());
            if (const Status read = from_json(*answer, reply); !read) return done(read.error());
            done(tokens->decode(reply.tokens));
        });
}

}  // namespace potluck::node
