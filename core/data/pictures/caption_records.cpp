// Captions are found first and held in memory, pictures are read one by one in the order of a keyed permutation. Their
// values wait in a file until a stretch is full; then the caller's coder turns all of it into codes at once, since
// starting one takes seconds, and captions and codes are joined to records in the same order. So memory is the captions
// and one stretch's codes, and equal folders, keys and coders make equal bytes.
//
// Which record is held out is decided when its picture has been read: a broken file takes the place of none.
#include "core/data/pictures/caption_records.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/data/token_file.h"
#include "core/model/traits.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t captions_held_out_key = 0x63617074696f6eULL;
constexpr std::uint64_t stretch_bytes = 128ULL << 20U;  // of pictures that are coded at once
constexpr std::size_t metadata_line_bytes_max = 64 * 1024;
constexpr const char* metadata_name = "metadata.jsonl";

using Captions = std::map<fs::path, std::string>;

/// Lines that are no object with both texts name no picture.
void read_metadata(const fs::path& file, Captions& captions) {
    const auto bytes = read_file(file, metadata_bytes_max);
    if (!bytes) return;
    std::string_view rest = as_text(*bytes);
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto json = parse_json(line, metadata_line_bytes_max);
        if (!json || !json->is_object()) continue;
        const auto name = json->find("file_name"), text = json->find("text");
        if (name == json->end() || text == json->end() || !name->is_string() || !text->is_string()) continue;
        const fs::path picture = file.parent_path() / fs::path(name->get<std::string>());
        captions[picture.lexically_normal()] = caption_of(text->get<std::string>());
    }
}

/// What all metadata files in the folder and below it say.
Captions metadata_of(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> files;
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, failed);
    for (const auto end = fs::end(entries); !failed && entries != end; entries.increment(failed)) {
        if (entries->path().filename() == metadata_name) files.push_back(entries->path());
    }
    std::ranges::sort(files);
    Captions captions;
    for (const fs::path& file : files) read_metadata(file, captions);
    return captions;
}

std::string caption_beside(const fs::path& picture) {
    fs::path text = picture;
    text.replace_extension(".txt");
    std::error_code unknown;
    if (!fs::is_regular_file(text, unknown)) return {};
    const auto bytes = read_file(text, std::uint64_t{1} << 20U);
    return bytes ? caption_of(as_text(*bytes)) : std::string();
}

std::size_t characters_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

/// Joins captions and codes to records, stretch by stretch.
class RecordJoiner {
public:
    RecordJoiner(const SplitPlan& plan, const CaptionPlan& captions)
        : m_plan(plan),
          m_captions(captions),
          m_shape(model::caption_shape(captions.drawer)),
          m_places(std::uint64_t{m_shape.grid} * m_shape.grid),
          m_training(plan.training, plan.format, plan.width),
          m_validation(plan.validation, plan.format, plan.width) {}
    ~RecordJoiner() {
        std::error_code ignored;
        for (const fs::path& file : {pictures_file(), codes_file()}) fs::remove(file, ignored);
    }
    RecordJoiner(const RecordJoiner&) = delete;
    RecordJoiner& operator=(const RecordJoiner&) = delete;

    Status add(std::span<const model::Token> picture, std::string_view caption, CaptionedPicture::Use use) {
        if (!m_pictures) m_pictures.emplace(pictures_file(), TokenFormat::nanogpt, model::TokenWidth::bits16);
        if (const Status written = m_pictures->write(picture); !written) return written;
        m_waiting.push_back({caption_tokens(m_captions.drawer, m_captions.tokenizer, caption), use});
        return m_waiting.size() * picture.size() * 2 < stretch_bytes ? Status() : join();
    }

    Status close(SplitTokens& split) {
        if (const Status joined = join(); !joined) return joined;
        for (TokenWriter* writer : {&m_training, &m_validation})
            if (const Status closed = writer->close(); !closed) return closed;
        split.training = m_training.tokens();
        split.validation = m_validation.tokens();
        return {};
    }

private:
    struct Waiting {
        std::vector<model::Token> caption;
        CaptionedPicture::Use use;
    };

    [[nodiscard]] fs::path pictures_file() const { return m_plan.training.parent_path() / "pictures.partial"; }
    [[nodiscard]] fs::path codes_file() const { return m_plan.training.parent_path() / "codes.partial"; }

    Status join() {
        if (m_waiting.empty()) return {};
        if (const Status closed = m_pictures->close(); !closed) return closed;
        m_pictures.reset();
        if (Status coded = m_captions.code(pictures_file(), m_waiting.size(), codes_file()); !coded) return coded;
        const std::uint64_t size = m_waiting.size() * m_places * 2;
        const auto bytes = read_file(codes_file(), size);
        if (!bytes) return bytes.error();
        std::vector<model::Token> codes(m_waiting.size() * m_places);
        if (bytes->size() != size) return Error{ErrorCode::malformed, "The coder has not coded every picture."};
        model::load_tokens(*bytes, model::TokenWidth::bits16, codes);
        std::vector<model::Token> record;
        for (std::size_t i = 0; i < m_waiting.size(); ++i) {
            record.assign(1, model::caption_begin);
            record.insert(record.end(), m_waiting[i].caption.begin(), m_waiting[i].caption.end());
            for (const model::Token code : std::span(codes).subspan(i * m_places, m_places))
                record.push_back(m_shape.vocabulary + code);
            if (!model::is_caption_record(m_captions.drawer, record))
                return Error{ErrorCode::malformed, "The coder has more codes than the model that draws."};
            const bool held_out = m_waiting[i].use == CaptionedPicture::Use::validation;
            if (const Status written = (held_out ? m_validation : m_training).write(record); !written) return written;
        }
        m_waiting.clear();
        return {};
    }

    const SplitPlan& m_plan;
    const CaptionPlan& m_captions;
    model::CaptionShape m_shape;
    std::uint64_t m_places;
    TokenWriter m_training, m_validation;
    std::optional<TokenWriter> m_pictures;
    std::vector<Waiting> m_waiting;
};

/// The baseline as pack_records() asks for it.
RecordBaseline asked_of(std::optional<PlaceBaseline>& baseline, const model::ModelSpec& drawer) {
    return {.begin = [&](std::span<const model::Token> validation) { baseline.emplace(drawer, validation); },
            .count = [&](std::span<const model::Token> record) { baseline->count(record); },
            .loss = [&] { return baseline->loss(); }};
}

}  // namespace

std::string caption_of(std::string_view text) {
    std::string caption;
    for (const char letter : text.substr(0, text.find('\n'))) {
        const auto code = static_cast<unsigned char>(letter);
        caption.push_back(code < 0x20 || code == 0x7f ? ' ' : letter);
    }
    caption = std::string(utf8_prefix(caption, caption_bytes_max));
    const std::size_t begin = caption.find_first_not_of(' ');
    if (begin == std::string::npos) return {};
    return caption.substr(begin, caption.find_last_not_of(' ') - begin + 1);
}

Result<CaptionedPictures> find_captioned_pictures(const fs::path& folder) {
    const auto files = find_pictures(folder);
    if (!files) return files.error();
    const Captions metadata = metadata_of(folder);
    CaptionedPictures found;
    for (const fs::path& file : *files) {
        const auto known = metadata.find(file.lexically_normal());
        std::string caption = known != metadata.end() ? known->second : caption_beside(file);
        if (characters_of(caption) < caption_characters_min) {
            ++found.without_caption;
            continue;
        }
        const bool held_out = is_for_validation(file, folder);
        if (held_out) found.held_out = HeldOut::named;
        found.pictures.push_back(
            {file, std::move(caption), held_out ? CaptionedPicture::Use::validation : CaptionedPicture::Use::training});
    }
    if (found.pictures.empty()) {
        return Error{ErrorCode::invalid_argument, "No picture in " + folder.string() +
                                                      " has a caption; write each into a .txt of the picture's name "
                                                      "beside it, or all into metadata.jsonl."};
    }
    return found;
}

std::vector<model::Token> caption_tokens(const model::ModelSpec& drawer, const Tokenizer& tokenizer,
                                         std::string_view caption) {
    const model::CaptionShape shape = model::caption_shape(drawer);
    std::vector<model::Token> tokens;
    tokenizer.encode(caption, tokens);
    std::erase_if(tokens, [&](model::Token token) {
        return token == model::caption_begin || token == model::caption_fill || token >= shape.vocabulary;
    });
    tokens.resize(shape.text, model::caption_fill);
    return tokens;
}

Result<SplitTokens> split_captions(const SplitPlan& plan, const CaptionPlan& captions, const PackProgress& progress) {
    POTLUCK_CHECK(plan.record_tokens == std::uint64_t{captions.drawer.context} + 1);
    const auto found = find_captioned_pictures(plan.source);
    if (!found) return found.error();
    const std::uint64_t count = found->pictures.size();
    const std::uint64_t held_out_max = held_out_pictures(count, plan, found->held_out);
    const KeyedPermutation order(mix64(plan.key ^ captions_held_out_key), count);
    RecordJoiner records(plan, captions);
    SplitTokens split;
    split.files_left_out = found->without_caption;
    std::uint64_t held_out = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (progress && !progress(PackStage::tokenizing, static_cast<double>(i) / static_cast<double>(count)))
            return packing_stopped();
        const CaptionedPicture& one = found->pictures[static_cast<std::size_t>(order.at(i))];
        const bool wanted =
            found->held_out == HeldOut::named ? one.use == CaptionedPicture::Use::validation : held_out < held_out_max;
        const auto picture = picture_record(one.file, model::picture_side(captions.coder), Proportions::up_to_double);
        if (!picture || (wanted && held_out >= held_out_max)) {
            ++split.files_left_out;
            continue;
        }
        const auto use = wanted ? CaptionedPicture::Use::validation : CaptionedPicture::Use::training;
        if (wanted) ++held_out;
        if (Status added = records.add(*picture, one.caption, use); !added) return added.error();
        ++split.text_files;
        split.text_bytes += picture->size() - 1;
    }
    if (const Status closed = records.close(split); !closed) return closed.error();
    return split;
}

Result<PackedText> pack_captions(const PackPlan& plan, const CaptionPlan& captions, const PackProgress& progress) {
    std::optional<PlaceBaseline> baseline;
    const RecordBaseline compared = asked_of(baseline, captions.drawer);
    return pack_records(
        plan, captions.drawer.vocabulary,
        [&](const SplitPlan& split) { return split_captions(split, captions, progress); }, compared, progress);
}

Result<PackedText> pack_caption_tokens(const PackPlan& plan, const model::ModelSpec& drawer,
                                       const PackProgress& progress) {
    std::optional<PlaceBaseline> baseline;
    const RecordBaseline compared = asked_of(baseline, drawer);
    auto packed = pack_records(
        plan, drawer.vocabulary,
        [&](const SplitPlan& split) { return split_tokens(split, drawer.vocabulary, progress); }, compared, progress);
    if (packed && baseline->has_seen_others()) {
        return Error{ErrorCode::malformed,
                     "These tokens are no captions with codes of pictures behind them; make them with potluck-node "
                     "pack --pictures and the same coder and tokenizer."};
    }
    return packed;
}

PlaceBaseline::PlaceBaseline(const model::ModelSpec& drawer, std::span<const model::Token> validation)
    : m_drawer(drawer) {
    const std::size_t size = std::size_t{drawer.context} + 1;
    for (std::size_t begin = 0; begin + size <= validation.size(); begin += size) {
        const std::span record = validation.subspan(begin, size);
        if (model::is_caption_record(drawer, record)) {
            m_validation.insert(m_validation.end(), record.begin(), record.end());
        } else {
            ++m_others;
        }
    }
    m_counts.resize(cell(size, 0));
}

std::size_t PlaceBaseline::cell(std::size_t place, model::Token token) const {
    const model::CaptionShape shape = model::caption_shape(m_drawer);
    const std::size_t codes = m_drawer.vocabulary - shape.vocabulary;
    if (place <= shape.text) return (place - 1) * shape.vocabulary + token;
    const std::size_t first = std::size_t{shape.text} * shape.vocabulary;
    const std::size_t code = token < shape.vocabulary ? 0 : token - shape.vocabulary;
    return first + (place - shape.text - 1) * codes + code;
}

void PlaceBaseline::count(std::span<const model::Token> record) {
    if (!model::is_caption_record(m_drawer, record)) {
        ++m_others;
        return;
    }
    ++m_records;
    for (std::size_t place = 1; place < record.size(); ++place) ++m_counts[cell(place, record[place])];
}

PlaceBaseline::Losses PlaceBaseline::losses() const {
    const model::CaptionShape shape = model::caption_shape(m_drawer);
    const std::size_t size = std::size_t{m_drawer.context} + 1, records = m_validation.size() / size;
    if (records == 0) return {};
    const double codes = m_drawer.vocabulary - shape.vocabulary, counted = static_cast<double>(m_records);
    Losses sums;
    for (std::size_t i = 0; i < m_validation.size(); ++i) {
        const std::size_t place = i % size;
        if (place == 0) continue;
        const bool text = place <= shape.text;
        const double seen = m_counts[cell(place, m_validation[i])] + 1.0;
        (text ? sums.text : sums.codes) -= std::log(seen / (counted + (text ? shape.vocabulary : codes)));
    }
    const auto all = static_cast<double>(records);
    return {sums.text / all / shape.text, sums.codes / all / (m_drawer.context - shape.text)};
}

double PlaceBaseline::loss() const {
    const Losses both = losses();
    return model::caption_loss(both.text, both.codes);
}

}  // namespace potluck::data
