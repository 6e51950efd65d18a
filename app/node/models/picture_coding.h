// A picture coder at work for another model: its weights as one file, and trainers of its own that turn pictures into
// codes and codes into a picture. The weights come from a checkpoint's folder, as `potluck-node export` writes it.
// Threads: any; coding blocks as long as the trainer works.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/node/trainer/trainer_task.h"
#include "core/base/result.h"
#include "core/data/pictures/caption_records.h"
#include "core/model/model_spec.h"

namespace potluck::node {

/// What a run's folder calls the coder's state file.
inline constexpr const char* coder_file_name = "coder.safetensors";
/// Beside an exported model that draws: its coder's checkpoint.
inline constexpr const char* coder_folder_name = "coder";

struct StoredCoder {
    model::ModelSpec model;
    std::filesystem::path file;  // a state file (core/model/state_layout.h)
    std::filesystem::path trainer_program, trainer_errors;
};

/// Writes the weights of the coder in the folder `checkpoint` to `file`. `invalid_argument` if there is another model.
[[nodiscard]] Result<StoredCoder> store_coder(const std::filesystem::path& checkpoint,
                                              const std::filesystem::path& file,
                                              const std::filesystem::path& trainer_program);

/// Each stretch of pictures starts a trainer and waits for it.
[[nodiscard]] data::CodePictures coding_by(const StoredCoder& coder);

/// The bytes of a PNG; `done` is called once, from the loop.
void draw_codes(boost::asio::io_context& loop, const StoredCoder& coder, std::vector<std::uint32_t> codes,
                std::function<void(const Result<Bytes>&)> done);

}  // namespace potluck::node
