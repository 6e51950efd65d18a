#include "app/node/hosting/sampler.h"

#include <algorithm>
#include <memory>

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
                     std::function<void(const Result<control::SampledText>&)> done) {
    m_owner.check();
    if (!model) return done(model.error());
    if (*m_busy) return done(Error{ErrorCode::unavailable, "Another sample is being made; try again in a moment."});
    const model::ModelSpec& spec = model->manifest.model;
    if (model::is_coder(spec)) {
        return done(Error{ErrorCode::invalid_argument,
                          "This run's model codes pictures and goes on with no text; potluck-node demo --family coder "
                          "shows what it draws."});
    }
    if (model::is_embedder(spec)) {
        return done(Error{ErrorCode::invalid_argument,
                          "This run's model compares pictures and goes on with no text; potluck-node status tells how "
                          "well it knows those that were held out."});
    }
    // It ends with the sample, whichever way.
    done = [done = std::move(done), busy = m_busy, round = model->round.value](Result<control::SampledText> sample) {
        *busy = false;
        if (sample) sample->round = round;
        done(sample);
    };
    *m_busy = true;
    if (model::is_drawer(spec)) return draw(*model, plan, std::move(done));
    auto tokenizer = open_tokenizer(*model);
    if (!tokenizer) return done(tokenizer.error());
    std::vector<model::Token> prompt;
    const bool encoder = model::is_encoder(spec);
    if (encoder) prompt = with_gaps(*tokenizer, spec.albert, plan);
    // Training text begins its documents with the separator, or is plain lines.
    if (prompt.empty() && plan.prompt.empty() && tokenizer->separator()) prompt.push_back(*tokenizer->separator());
    if (prompt.empty()) tokenizer->encode(plan.prompt.empty() ? "\n" : plan.prompt, prompt);
    if (prompt.empty()) prompt.push_back(0);
    ask(*model, std::move(prompt), plan,
        [done = std::move(done), tokens = std::make_shared<data::Tokenizer>(std::move(*tokenizer))](
            const Result<control::SampleReply>& answer) {
            if (!answer) return done(answer.error());
            done(control::SampledText{.text = tokens->decode(answer->tokens)});
        });
}

void Sampler::ask(const HeldModel& model, std::vector<model::Token> prompt, const SamplePlan& plan,
                  std::function<void(const Result<control::SampleReply>&)> done) {
    TrainerQuestion question = question_about(model);
    control::SampleRequest request;
    request.state = question.load->state;
    request.prompt = std::move(prompt);
    request.tokens = plan.tokens;
    request.temperature = plan.temperature;
    request.seed = plan.seed;
    ask_trainer(m_loop, std::move(question), request, std::move(done));
}

/// The codes behind the caption, and a second trainer that makes their picture.
void Sampler::draw(const HeldModel& model, const SamplePlan& plan,
                   std::function<void(const Result<control::SampledText>&)> done) {
    const model::ModelSpec& spec = model.manifest.model;
    const std::string caption = data::caption_of(plan.prompt);
    if (caption.empty()) {
        return done(
            Error{ErrorCode::invalid_argument, "Say what is to be drawn, for example --prompt \"a red heart\"."});
    }
    const auto tokenizer = open_tokenizer(model);
    if (!tokenizer) return done(tokenizer.error());
    const auto coder = open_coder(model);
    if (!coder) return done(coder.error());
    std::vector<model::Token> prompt = data::caption_tokens(spec, *tokenizer, caption);
    prompt.insert(prompt.begin(), model::dalle_begin);
    SamplePlan codes = plan;
    codes.tokens = spec.dalle.grid * spec.dalle.grid;
    ask(model, std::move(prompt), codes,
        [&loop = m_loop, coder = *coder, first = spec.dalle.text_vocabulary,
         done = std::move(done)](const Result<control::SampleReply>& answer) {
            if (!answer) return done(answer.error());
            std::vector<std::uint32_t> drawn = answer->tokens;
            for (std::uint32_t& token : drawn) token -= std::min(token, first);
            draw_codes(loop, coder, std::move(drawn), [done](const Result<Bytes>& png) {
                if (!png) return done(png.error());
                control::SampledText sample;
                sample.picture = to_hex(*png);
                done(sample);
            });
        });
}

}  // namespace potluck::node
