#include "app/node/hosting/sampler.h"

#include "app/node/trainer/trainer_task.h"

namespace potluck::node {

namespace {

constexpr std::string_view gap = "[MASK]";
constexpr std::uint32_t gaps_usual = 8;  // behind a prompt that has none

/// An encoder's prompt: between its marks, with a gap for every [MASK], or some at the end.
std::vector<model::Token> with_gaps(const data::Tokenizer& tokenizer, const model::AlbertShape& shape,
                                    const SamplePlan& plan) {
    std::vector<model::Token> prompt{shape.cls};
    std::string_view rest = plan.prompt;
    for (std::size_t at = rest.find(gap); at != std::string_view::npos; at = rest.find(gap)) {
        tokenizer.encode(rest.substr(0, at), prompt);
        prompt.push_back(shape.mask);
        rest.remove_prefix(at + gap.size());
    }
    tokenizer.encode(rest, prompt);
    const bool none = plan.prompt.find(gap) == std::string::npos;
    if (none) prompt.insert(prompt.end(), std::min(plan.tokens, gaps_usual), shape.mask);
    prompt.push_back(shape.sep);
    return prompt;
}

}  // namespace

void Sampler::sample(const Result<HeldModel>& model, const SamplePlan& plan,
                     std::function<void(const Result<std::string>&)> done) {
    m_owner.check();
    if (!model) return done(model.error());
    if (*m_busy) return done(Error{ErrorCode::unavailable, "Another sample is being made; try again in a moment."});
    if (model::is_coder(model->manifest.model)) {
        return done(Error{ErrorCode::invalid_argument,
                          "This run's model codes pictures and goes on with no text; potluck-node demo --family coder "
                          "shows what it draws."});
    }
    auto tokenizer = open_tokenizer(*model);
    if (!tokenizer) return done(tokenizer.error());
    std::vector<model::Token> prompt;
    const model::ModelSpec& spec = model->manifest.model;
    const bool encoder = model::is_encoder(spec);
    if (encoder) prompt = with_gaps(*tokenizer, spec.albert, plan);
    // Training text begins its documents with the separator, or is plain lines.
    if (prompt.empty() && plan.prompt.empty() && tokenizer->separator()) prompt.push_back(*tokenizer->separator());
    if (prompt.empty()) tokenizer->encode(plan.prompt.empty() ? "\n" : plan.prompt, prompt);
    if (prompt.empty()) prompt.push_back(0);

    control::SampleRequest request;
    request.state = {model->state.file.string(), model->state.offset};
    request.prompt = std::move(prompt);
    request.tokens = plan.tokens;
    request.temperature = plan.temperature;
    request.seed = plan.seed;
    TrainerQuestion question;
    question.program = model->trainer_program;
    question.error_file = model->trainer_errors;
    question.load = {model->manifest.model, model->manifest.recipe, request.state, 0};
    *m_busy = true;
    ask_trainer(
        m_loop, std::move(question), request,
        [done = std::move(done), busy = m_busy, tokens = std::make_shared<data::Tokenizer>(std::move(*tokenizer))](
            const Result<control::SampleReply>& answer) {
            *busy = false;
            done(answer ? Result<std::string>(tokens->decode(answer->tokens)) : Result<std::string>(answer.error()));
        });
}

}  // namespace potluck::node
