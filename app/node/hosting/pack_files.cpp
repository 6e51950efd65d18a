#include "app/node/hosting/pack_files.h"

#include <iostream>
#include <optional>
#include <system_error>

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

}  // namespace

data::PackProgress print_progress() {
    return [last = std::optional<data::PackStage>()](data::PackStage stage, double) mutable {
        if (last != stage) std::cerr << "potluck-node: " << stage_name(stage) << std::endl;
        last = stage;
        return true;
    };
}

Result<data::SplitTokens> pack_files(const PackOptions& options, const data::PackProgress& progress) {
    const auto files = data::find_tokenizer(options.tokenizer);
    if (!files) return files.error();
    const auto tokenizer = data::Tokenizer::open(*files);
    if (!tokenizer) return tokenizer.error();
    std::error_code failed;
    fs::create_directories(options.folder, failed);
    if (failed) {
        return Error{ErrorCode::permission,
                     "The folder " + options.folder.string() + " cannot be made (" + failed.message() + ")."};
    }
    const NewFile training(options.folder / "train.bin"), validation(options.folder / "val.bin");
    if (fs::exists(training.name, failed) || fs::exists(validation.name, failed)) {
        return Error{ErrorCode::already_exists,
                     options.folder.string() + " already holds train.bin or val.bin; give another folder."};
    }
    const data::SplitPlan plan{.source = options.text,
                               .training = training.partial,
                               .validation = validation.partial,
                               .format = options.format,
                               .width = model::token_width(tokenizer->vocabulary()),
                               .key = options.seed};
    const auto split = data::split_text(plan, *tokenizer, progress);
    if (!split) return split.error();
    for (const NewFile* file : {&training, &validation}) {
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
    return ExitCode::ok;
}

}  // namespace potluck::node
