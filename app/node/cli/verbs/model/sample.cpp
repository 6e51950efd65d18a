// The run's model writes, draws or compares pictures, through the running node or from the data folder; with --from it
// is the model of a folder, which needs neither. Text goes to standard output, a picture into a file.
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/model/verbs.h"
#include "app/node/models/checkpoint_folder.h"
#include "app/node/models/sampler.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

constexpr const char* picture_file_usual = "picture.png";

/// Text goes to standard output, a picture into a file.
ExitCode keep_sample(const control::SampledText& sample, const std::filesystem::path& picture) {
    if (!sample.picture) {
        std::cout << clean_lines(sample.text) << std::endl;
        if (picture.empty()) return ExitCode::ok;
        return complain(Error{ErrorCode::invalid_argument, "This run's model writes text; leave --picture out."});
    }
    Bytes png(sample.picture->size() / 2);
    if (!from_hex(*sample.picture, png))
        return complain(Error{ErrorCode::malformed, "The node is another version than this program; restart it."});
    const std::filesystem::path file = picture.empty() ? picture_file_usual : picture;
    if (const Status written = write_file_atomically(file, png); !written) return complain(written.error());
    std::cout << file.string() << std::endl;
    if (sample.nearest) {
        std::cout << "In each row a picture, then the " << *sample.nearest
                  << " that are nearest to it by what the model has learnt." << std::endl;
    }
    return ExitCode::ok;
}

class SampleVerb final : public Verb {
public:
    SampleVerb(std::string verb_name, std::string verb_help) : Verb(std::move(verb_name), std::move(verb_help)) {
        m_call.tokens = 200;
        m_call.temperature = 0.8;
        m_call.seed = 1;
    }

    void add(CLI::App& app) override {
        app.add_option("--prompt", m_call.prompt, "The beginning, or what is to be drawn");
        CLI::Option* from = app.add_option("--from", m_from, "A folder that export wrote, instead of the run's model");
        app.add_option("--pictures", m_pictures,
                       "With --from, of a model that compares pictures: a folder of those to compare")
            ->needs(from);
        app.add_option("--picture", m_picture,
                       "Of a model that draws or compares pictures: where to (default: picture.png)");
        app.add_option("--tokens", m_call.tokens, "How many tokens")->check(CLI::Range(1, 4096));
        app.add_option("--temperature", m_call.temperature, "0: always the likeliest")->check(CLI::Range(0.0, 10.0));
        app.add_option("--seed", m_call.seed, "Seed of the choice");
    }

    ExitCode run(const ThisNode& node) override {
        if (!m_from.empty()) return sample_checkpoint(trainer_of(node.options));
        return ask(
            node, Output::people, m_call,
            [this](const control::SampledText& sample) { return keep_sample(sample, m_picture); }, trainer_patience);
    }

private:
    [[nodiscard]] ExitCode sample_checkpoint(const std::filesystem::path& trainer) const;

    control::SampleText m_call;
    std::filesystem::path m_from, m_pictures;
    std::filesystem::path m_picture;  // empty: picture.png here
};

/// Needs no data folder.
ExitCode SampleVerb::sample_checkpoint(const std::filesystem::path& trainer) const {
    auto opened = OpenedCheckpoint::open(m_from, trainer);
    if (!opened) return complain(opened.error());
    if (!m_pictures.empty()) {
        const Status held_out = opened->hold_out(m_pictures);
        if (!held_out) return complain(held_out.error());
    }
    boost::asio::io_context loop;
    Sampler sampler(loop);
    Result<control::SampledText> outcome = Error{ErrorCode::unavailable, "There was no answer."};
    sampler.sample(opened->model(), {m_call.prompt, m_call.tokens, m_call.temperature, m_call.seed},
                   [&](const Result<control::SampledText>& sample) { outcome = sample; });
    loop.run();
    return outcome ? keep_sample(*outcome, m_picture) : complain(outcome.error());
}

}  // namespace

std::unique_ptr<Verb> sample_verb() {
    return std::make_unique<SampleVerb>(
        "sample", "Let the model go on with a text, draw what it says, or show which pictures it thinks alike");
}

}  // namespace potluck::node
