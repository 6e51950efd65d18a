#include "app/node/models/picture_coding.h"

#include <utility>

#include "app/node/models/checkpoint_folder.h"
#include "app/node/trainer/one_answer.h"
#include "core/base/files.h"
#include "core/model/state_layout.h"
#include "core/pictures/picture.h"
#include "core/run/manifest.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

/// A stretch is some ten thousand small pictures, which a slow processor codes for long.
constexpr std::chrono::seconds coding_patience{3'600};

control::VectorFile vector_of(const StoredCoder& coder) {
    return {coder.file.string(), model::state_layout(coder.model).header.size()};
}

TrainerQuestion question_about(const StoredCoder& coder) {
    TrainerQuestion question;
    question.program = coder.trainer_program;
    question.error_file = coder.trainer_errors;
    question.load = {coder.model, run::Recipe{}, vector_of(coder), 0};
    return question;
}

}  // namespace

Result<StoredCoder> store_coder(const fs::path& checkpoint, const fs::path& file, const fs::path& trainer_program) {
    const auto opened = CheckpointFolder::open(checkpoint);
    if (!opened) return opened.error();
    StoredCoder coder;
    coder.model = opened->model();
    coder.file = file;
    coder.trainer_program = trainer_program;
    if (!model::is_coder(coder.model)) {
        return Error{ErrorCode::invalid_argument,
                     "The folder " + checkpoint.string() +
                         " holds no picture coder; train one (host --model coder-small) and export it, "
                         "or take a VQModel that diffusers saved."};
    }
    const model::StateLayout layout = model::state_layout(coder.model);
    if (layout.file_size() > run::coder_bytes_max) {
        return Error{ErrorCode::invalid_argument, "The picture coder is larger than 400 MB; take a smaller one."};
    }
    std::error_code failed;
    fs::create_directories(coder.file.parent_path(), failed);
    auto map = MappedFile::create(coder.file, layout.file_size());
    if (!map) return map.error();
    const std::span<std::byte> bytes = map->writable();
    std::ranges::copy(layout.header, bytes.begin());
    auto* first = reinterpret_cast<float*>(bytes.data() + layout.header.size());
    const Status read = opened->read(coder.model, std::span(first, static_cast<std::size_t>(layout.parameters)));
    if (!read) return read.error();
    if (const Status synced = map->sync(); !synced) return synced.error();
    return coder;
}

data::CodePictures coding_by(const StoredCoder& coder) {
    return [coder](const fs::path& pictures, std::uint64_t records, const fs::path& codes) -> Status {
        TrainerQuestion question = question_about(coder);
        question.patience = coding_patience;
        const control::EncodeRequest request{vector_of(coder), fs::absolute(pictures).string(), records,
                                             fs::absolute(codes).string()};
        const auto answer = ask_once(std::move(question), request);
        return answer.result ? Status() : answer.result.error();
    };
}

void draw_codes(boost::asio::io_context& loop, const StoredCoder& coder, std::vector<std::uint32_t> codes,
                std::function<void(const Result<Bytes>&)> done) {
    ask_trainer(loop, question_about(coder), control::DecodeRequest{vector_of(coder), std::move(codes)},
                [side = coder.model.coder.side, done = std::move(done)](const Result<control::DecodeReply>& answer) {
                    if (!answer) return done(answer.error());
                    if (answer->values.size() != std::size_t{3} * side * side)
                        return done(Error{ErrorCode::malformed, "The trainer has drawn a picture of another size."});
                    pictures::Picture picture{side, side, {}};
                    picture.rgb.assign(answer->values.begin(), answer->values.end());
                    done(pictures::encode_png(picture));
                });
}

}  // namespace potluck::node
