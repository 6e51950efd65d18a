// All files get their names last, in one go, so that a folder holds either everything that belongs together or nothing.
// The order of the passes puts what is quick to refuse (a tokenizer, names that are taken) before what reads gigabytes.
//
// Captioned pictures need a coder's codes: its weights lie beside the files while a trainer of its own makes them, and
// are removed again, since `host` takes the same coder from its own checkpoint.
#include "app/node/starting/pack_files.h"

#include <iostream>
#include <optional>
#include <system_error>

#include "app/node/models/picture_coding.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

/// A file that gets its name only when it is whole.
struct NewFile {
    explicit NewFile(const fs::path& path) : name(path), partial(path.string() + ".partial") {}
    ~NewFile() {
        std::error_code ignored;
        fs::remove(partial, ignored);
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    Status keep() const {
        if (Status synced = sync_file(partial); !synced) return synced;
        std::error_code failed;
        fs::rename(partial, name, failed);
        if (!failed) return {};
        return Error{ErrorCode::io, name.string() + " cannot be written (" + failed.message() + ")."};
    }
    fs::path name, partial;
};

const char* stage_name(data::PackStage stage) {
    switch (stage) {
        case data::PackStage::reading: return "reading what to train on";
        case data::PackStage::tokenizing: return "turning it into tokens";
        case data::PackStage::shuffling: return "shuffling records";
    }
    return "";
}

Result<data::Tokenizer> tokenizer_at(const fs::path& path) {
    const auto files = data::find_tokenizer(path);
    if (!files) return files.error();
    return data::Tokenizer::open(*files);
}

/// Trains a vocabulary on the text into `file`.
Result<data::Tokenizer> trained_tokenizer(const PackOptions& options, const fs::path& file) {
    std::cerr << "potluck-node: training a vocabulary, which can take minutes" << std::endl;
    const auto unasked = [](std::uint64_t) { return true; };
    const auto model = data::train_vocabulary(options.text, options.train_vocabulary, unasked);
    if (!model) return model.error();
    if (const Status written = write_file_atomically(file, as_bytes(*model)); !written) return written.error();
    return data::Tokenizer::open({.kind = run::TokenizerKind::sentencepiece, .model = file, .merges = {}});
}

/// Records of captions and codes, by a coder that lies beside them meanwhile.
Result<data::SplitTokens> split_pictures(const PackOptions& options, data::SplitPlan plan,
                                         const data::Tokenizer& tokenizer, const data::PackProgress& progress) {
    const NewFile weights(options.folder / coder_file_name);
    const auto coder = store_coder(options.coder, weights.partial, options.trainer_program);
    if (!coder) return coder.error();
    const model::ModelSpec size = model::drawer_of_captions(options.caption_tokens);
    const model::ModelSpec drawer = model::drawer_with(size, coder->model, tokenizer.vocabulary());
    plan.source = options.pictures;
    plan.record_tokens = std::uint64_t{drawer.context} + 1;
    plan.width = model::token_width(drawer.vocabulary);
    return data::split_captions(plan, {drawer, coder->model, tokenizer, coding_by(*coder)}, progress);
}

}  // namespace

data::PackProgress print_progress() {
    return [last = std::optional<data::PackStage>()](data::PackStage stage, double) mutable {
        if (last != stage) std::cerr << "potluck-node: " << stage_name(stage) << std::endl;
        last = stage;
        return true;
    };
}

Result<data::SplitTokens> pack_files(const PackOptions& options, const data::PackProgress& progress) {
    const bool trains = options.train_vocabulary > 0;
    auto tokenizer = trains ? Result<data::Tokenizer>(data::Tokenizer::bytes()) : tokenizer_at(options.tokenizer);
    if (!tokenizer) return tokenizer.error();
    std::error_code failed;
    fs::create_directories(options.folder, failed);
    if (failed) {
        return Error{ErrorCode::permission,
                     "The folder " + options.folder.string() + " cannot be made (" + failed.message() + ")."};
    }
    const NewFile training(options.folder / "train.bin"), validation(options.folder / "val.bin"),
        vocabulary(options.folder / "tokenizer.model");
    if (fs::exists(training.name, failed) || fs::exists(validation.name, failed)) {
        return Error{ErrorCode::already_exists,
                     options.folder.string() + " already holds train.bin or val.bin; give another folder."};
    }
    if (trains) {
        if (fs::exists(vocabulary.name, failed)) {
            return Error{ErrorCode::already_exists,
                         options.folder.string() + " already holds a tokenizer.model; give another folder."};
        }
        tokenizer = trained_tokenizer(options, vocabulary.partial);
        if (!tokenizer) return tokenizer.error();
    }
    data::SplitPlan plan{.source = options.text,
                         .training = training.partial,
                         .validation = validation.partial,
                         .format = options.format,
                         .width = model::token_width(tokenizer->vocabulary()),
                         .key = options.seed};
    const auto split = options.pictures.empty() ? data::split_text(plan, *tokenizer, progress)
                                                : split_pictures(options, plan, *tokenizer, progress);
    if (!split) return split.error();
    for (const NewFile* file : {&training, &validation, &vocabulary}) {
        if (file == &vocabulary && !trains) continue;
        if (const Status kept = file->keep(); !kept) return kept.error();
    }
    return split;
}

ExitCode run_pack(const PackOptions& options) {
    const auto split = pack_files(options, print_progress());
    if (!split) {
        std::cerr << "potluck-node: " << split.error().message << std::endl;
        return exit_code_of(split.error().code);
    }
    std::cout << (options.folder / "train.bin").string() << "  " << split->training << " tokens\n"
              << (options.folder / "val.bin").string() << "  " << split->validation << " tokens" << std::endl;
    if (!options.pictures.empty()) {
        if (split->files_left_out > 0) {
            std::cout << split->files_left_out
                      << " pictures are left out: unreadable, without a caption of at least three characters, or more "
                         "than twice as long as wide or wide as long\n";
        }
        std::cout << "Train " << model::titles_of(model::is_drawer) << " with them: potluck-node host --model "
                  << model::presets_of(model::is_drawer) << " --tokens " << options.folder.string() << " --coder "
                  << options.coder.string() << std::endl;
    }
    if (options.train_vocabulary > 0) {
        const std::string file = (options.folder / "tokenizer.model").string();
        std::cout << file << "  the vocabulary; train " << model::titles_of(model::is_encoder)
                  << " with it: potluck-node host --model " << model::presets_of(model::is_encoder) << " --text "
                  << options.text.string() << " --tokenizer " << file << std::endl;
    }
    return ExitCode::ok;
}

}  // namespace potluck::node
