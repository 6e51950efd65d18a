#include <map>

#include <CLI/CLI.hpp>

#include "app/node/cli/verbs/programs/verbs.h"
#include "app/node/starting/pack_files.h"

namespace potluck::node {

namespace {

class PackVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& pack) override;

    Status read() override {
        if (!m_plan.text.empty() || !m_plan.pictures.empty()) return {};
        return Error{ErrorCode::invalid_argument, "Say what to pack, with --text or --pictures."};
    }

    ExitCode run(const ThisNode& node) override {
        m_plan.trainer_program = trainer_of(node.options);
        return run_pack(m_plan);
    }

private:
    PackOptions m_plan;
};

void PackVerb::add(CLI::App& pack) {
    static const std::map<std::string, data::TokenFormat> formats = {{"nanogpt", data::TokenFormat::nanogpt},
                                                                     {"llmc", data::TokenFormat::llmc}};
    CLI::Option* text = pack.add_option("--text", m_plan.text, "File or folder of UTF-8 text");
    CLI::Option* coder = pack.add_option("--coder", m_plan.coder,
                                         "The folder of a picture coder, exported or saved by diffusers (VQModel)");
    pack.add_option("--pictures", m_plan.pictures,
                    "Instead of text: a folder of PNG or PPM pictures, with a .txt beside each or a metadata.jsonl, "
                    "for a model that draws")
        ->excludes(text)
        ->needs(coder);
    pack.add_option("--caption", m_plan.caption_tokens, "Tokens of a caption")->check(CLI::Range(1, 4'096));
    CLI::Option* tokenizer =
        pack.add_option("--tokenizer", m_plan.tokenizer,
                        "A sentencepiece model file, or a folder with vocab.json and merges.txt (default: bytes)");
    pack.add_option("--train-vocabulary", m_plan.train_vocabulary,
                    "Train a sentencepiece vocabulary of at most so many pieces on the text first, in lower case and "
                    "with an encoder's marks, and keep it as tokenizer.model")
        ->check(CLI::Range(data::trained_vocabulary_min, data::trained_vocabulary_max))
        ->excludes(tokenizer);
    pack.add_option("--format", m_plan.format, "nanogpt (bare tokens) or llmc (with a header)")
        ->transform(CLI::CheckedTransformer(formats))
        ->default_str("nanogpt");
    pack.add_option("--seed", m_plan.seed, "Seed of what is held out for validation");
    pack.add_option("folder", m_plan.folder, "Where to")->required();
}

}  // namespace

std::unique_ptr<Verb> pack_verb() {
    return std::make_unique<PackVerb>("pack",
                                      "Turn text or captioned pictures into train.bin and val.bin for nanoGPT, llm.c "
                                      "or host --tokens");
}

}  // namespace potluck::node
