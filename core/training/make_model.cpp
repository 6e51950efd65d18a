#include "core/training/make_model.h"

#include "core/training/decoder/decoder.h"
#include "core/training/encoder/encoder.h"
#include "core/training/picture/book_coder.h"
#include "core/training/picture/coder.h"
#include "core/training/picture/dalle.h"
#include "core/training/picture/swav.h"

namespace potluck::training {

std::unique_ptr<Model> make_model(const model::ModelSpec& spec, const ModelOptions& options) {
    if (model::has_code_book(spec)) return std::make_unique<BookCoder>(spec, options);
    if (model::is_coder(spec)) return std::make_unique<PictureCoder>(spec, options);
    if (model::is_drawer(spec)) return std::make_unique<Dalle>(spec, options);
    if (model::is_embedder(spec)) return std::make_unique<Swav>(spec, options);
    if (model::is_encoder(spec)) return std::make_unique<Encoder>(spec, options);
    return std::make_unique<Decoder>(spec, options);
}

}  // namespace potluck::training
