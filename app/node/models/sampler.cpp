// What a trainer is asked follows from the kind of model. Text goes on behind a prompt, and an encoder fills the
// prompt's gaps. A model that draws goes on with codes, of which a second trainer makes a picture.
//
// A model that embeds pictures has no prompt: a trainer tells by their numbers which of those held out are nearest to
// some of them. Their pixels are read here, from the file that the trainer has compared, so that the line between the
// two stays short however large pictures are.
#include "app/node/models/sampler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "app/node/trainer/trainer_task.h"
#include "core/base/files.h"
#include "core/model/token.h"
#include "core/model/traits.h"

namespace potluck::node {

namespace {

constexpr std::string_view gap = "[MASK]";
constexpr std::uint32_t gaps_usual = 8;  // behind a prompt that has none

/// An encoder's prompt: between its marks, with a gap for every [MASK], or some at the end.
std::vector<model::Token> with_gaps(const data::Tokenizer& tokenizer, const model::TextMarks& marks,
                                    const SamplePlan& plan) {
    std::vector<model::Token> prompt{marks.cls};
    std::string_view rest = plan.prompt;
    for (std::size_t at = rest.find(gap); at != std::string_view::npos; at = rest.find(gap)) {
        tokenizer.encode(rest.substr(0, at), prompt);
        prompt.push_back(marks.mask);
        rest.remove_prefix(at + gap.size());
    }
    tokenizer.encode(rest, prompt);
    const bool none = plan.prompt.find(gap) == std::string::npos;
    if (none) prompt.insert(prompt.end(), std::min(plan.tokens, gaps_usual), marks.mask);
    prompt.push_back(marks.sep);
    return prompt;
}

// A PNG of numbers that do not compress is little longer than they are, and each byte is two digits.
static_assert(2 * 3 * (nearest_rows * shown_side_max) * ((1 + nearest_columns) * shown_side_max + shown_gap) <
              control::picture_text_bytes_max * 9 / 10);

Error not_these_pictures() {
    return {ErrorCode::malformed, "The trainer and the held-out pictures do not fit each other; fetch them again."};
}

/// The picture with a number, as large as it is shown.
Result<pictures::Picture> shown_picture(const model::ModelSpec& model, ByteSpan records, std::uint32_t number) {
    const model::TokenWidth width = model::token_width(model.vocabulary);
    const std::size_t length = (std::size_t{model.context} + 1) * model::bytes_of(width);
    if (number >= records.size() / length) return not_these_pictures();
    std::vector<model::Token> record(std::size_t{model.context} + 1);
    model::load_tokens(records.subspan(number * length, length), width, record);
    record.pop_back();  // its class
    if (std::ranges::any_of(record, [](model::Token value) { return value > 255; })) return not_these_pictures();
    const std::uint32_t side = model::picture_side(model);
    pictures::Picture picture{side, side, {}};
    for (const model::Token value : record) picture.rgb.push_back(static_cast<std::uint8_t>(value));
    return pictures::squared(picture, std::min(side, shown_side_max));
}

Result<control::SampledText> drawn(const HeldModel& model, const control::NearestReply& answer) {
    const auto records = MappedFile::open_read(model.validation);
    if (!records) return records.error();
    const auto picture = nearest_picture(model.manifest.model, records->bytes(), answer);
    if (!picture) return picture.error();
    const auto png = pictures::encode_png(*picture);
    if (!png) return png.error();
    control::SampledText sample;
    sample.picture = to_hex(*png);
    sample.nearest = static_cast<std::uint32_t>(answer.rows.front().nearest.size());
    return sample;
}

}  // namespace

Result<pictures::Picture> nearest_picture(const model::ModelSpec& model, ByteSpan records,
                                          const control::NearestReply& answer) {
    const std::size_t columns = answer.rows.empty() ? 0 : answer.rows.front().nearest.size();
    if (columns == 0) return not_these_pictures();
    std::vector<pictures::Picture> queries, others;
    const auto add = [&](std::uint32_t number, std::vector<pictures::Picture>& to) {
        auto picture = shown_picture(model, records, number);
        if (picture) to.push_back(*std::move(picture));
        return picture.ok();
    };
    for (const control::NearestRow& row : answer.rows) {
        const bool fine = row.nearest.size() == columns && add(row.query, queries) &&
                          std::ranges::all_of(row.nearest, [&](std::uint32_t other) { return add(other, others); });
        if (!fine) return not_these_pictures();
    }
    return pictures::beside(pictures::tiled(queries, 1), pictures::tiled(others, static_cast<std::uint32_t>(columns)),
                            shown_gap);
}

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
    // It ends with the sample, whichever way.
    done = [done = std::move(done), busy = m_busy, round = model->round.value](Result<control::SampledText> sample) {
        *busy = false;
        if (sample) sample->round = round;
        done(sample);
    };
    *m_busy = true;
    if (model::is_drawer(spec)) return draw(*model, plan, std::move(done));
    if (model::is_embedder(spec)) return compare(*model, std::move(done));
    auto tokenizer = open_tokenizer(*model);
    if (!tokenizer) return done(tokenizer.error());
    std::vector<model::Token> prompt;
    if (const auto marks = model::text_marks(spec)) prompt = with_gaps(*tokenizer, *marks, plan);
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
    prompt.insert(prompt.begin(), model::caption_begin);
    SamplePlan codes = plan;
    const model::CaptionShape shape = model::caption_shape(spec);
    codes.tokens = shape.grid * shape.grid;
    ask(model, std::move(prompt), codes,
        [&loop = m_loop, coder = *coder, first = shape.vocabulary,
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

/// Asks which of the held-out pictures are nearest to some of them.
void Sampler::compare(const HeldModel& model, std::function<void(const Result<control::SampledText>&)> done) {
    if (model.validation.empty() && model.run == RunId{}) {
        return done(Error{ErrorCode::invalid_argument,
                          "A checkpoint holds no pictures; name a folder of those to compare with --pictures."});
    }
    if (model.validation.empty()) {
        return done(Error{ErrorCode::unavailable,
                          "The pictures that the run holds out are not on this computer: they are still being fetched, "
                          "or the model is too large to be measured here; ask on its host's computer."});
    }
    TrainerQuestion question = question_about(model);
    const control::NearestRequest request{question.load->state, std::filesystem::absolute(model.validation).string(),
                                          model.manifest.validation.records, nearest_rows, nearest_columns};
    ask_trainer(m_loop, std::move(question), request,
                [model, done = std::move(done)](const Result<control::NearestReply>& answer) {
                    done(answer ? drawn(model, *answer) : Result<control::SampledText>(answer.error()));
                });
}

}  // namespace potluck::node
