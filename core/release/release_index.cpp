// The parser reads a closed set of fields with a bound for each, although the text is signed: a mistake of ours must
// not do harm either. Names become files and links become requests or clicks, so they are checked for what they may
// say.
//
// accept_index asks in the order signature, content, age: nothing of a text that nobody signed is looked at.
#include "core/release/release_index.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/release/signed_text.h"

namespace potluck::release {

namespace {

using nlohmann::json;

constexpr const char* format_name = "potluck-releases-1";
constexpr std::uint32_t version_part_max = 99'999;
constexpr std::int64_t time_max = 1LL << 40U;
constexpr std::size_t word_bytes_max = 40, magnet_bytes_max = 1'000, version_bytes_max = 20;

std::optional<std::uint32_t> number_of(std::string_view text, std::uint32_t high) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number > high) return std::nullopt;
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    return number;
}

/// Letters, digits and . _ + - only, so that a name is one file in one folder wherever it is written.
bool is_file_name(std::string_view name) {
    const auto allowed = [](char c) {
        return is_letter(c) || is_digit(c) || std::string_view("._+-").find(c) != std::string_view::npos;
    };
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, allowed);
}

bool is_web_link(std::string_view link) {
    const bool web = link.starts_with("https://") || link.starts_with("http://");
    return web && std::ranges::all_of(link, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '<'; });
}

Version version_field(Fields& fields, const char* name) {
    const std::string text = fields.text(name, version_bytes_max);
    const auto version = Version::parse(text);
    if (!version && !fields.failed()) fields.fail('"' + std::string(name) + "\" is not a version such as 0.3.0");
    return version.value_or(Version{});
}

template <class Id>
Id id_field(Fields& fields, const char* name) {
    const auto id = Id::parse(fields.text(name, 64));
    if (!id && !fields.failed()) fields.fail('"' + std::string(name) + "\" is not 64 hexadecimal digits");
    return id.value_or(Id{});
}

std::string link_field(Fields& fields, const char* name) {
    std::string link = fields.text_or(name, url_bytes_max, "");
    if (!link.empty() && !is_web_link(link)) fields.fail('"' + std::string(name) + "\" is not a link of the web");
    return link;
}

Result<Release> release_of(const json& object) {
    Fields fields(object, "release");
    Release release;
    release.version = version_field(fields, "version");
    release.date = fields.text("date", word_bytes_max);
    release.protocol = static_cast<std::uint32_t>(fields.integer("protocol", 0, UINT32_MAX));
    release.notes = fields.text("notes", notes_bytes_max);
    release.page = link_field(fields, "page");
    if (const Status whole = fields.finish(); !whole) return whole.error();
    return release;
}

std::vector<Version> apps_field(Fields& fields) {
    std::vector<Version> apps;
    const json& list = fields.array("apps", apps_max);
    if (fields.failed()) return apps;
    for (const json& entry : list) {
        const auto* text = entry.get_ptr<const std::string*>();
        const auto version = text != nullptr ? Version::parse(*text) : std::nullopt;
        if (!version) {
            fields.fail("\"apps\" has an entry that is not a version");
            return apps;
        }
        apps.push_back(*version);
    }
    return apps;
}

Result<Pack> pack_of(const json& object) {
    Fields fields(object, "pack");
    Pack pack;
    pack.name = fields.text("name", name_bytes_max);
    if (!fields.failed() && !is_file_name(pack.name)) fields.fail("\"name\" is not the name of a file");
    const auto kind = pack_kind_of(fields.text("kind", word_bytes_max));
    if (!kind && !fields.failed()) fields.fail("\"kind\" is none of cpu, cuda and rocm");
    pack.kind = kind.value_or(PackKind::cpu);
    pack.apps = apps_field(fields);
    pack.system = fields.text("system", word_bytes_max);
    pack.architecture = fields.text("architecture", word_bytes_max);
    pack.size = fields.integer("size", 1, pack_bytes_max);
    pack.unpacked = fields.integer("unpacked", 1, unpacked_bytes_max);
    pack.files = fields.integer("files", 1, pack_files_max);
    pack.sha256 = id_field<Digest>(fields, "sha256");
    pack.root = id_field<BlobId>(fields, "root");
    pack.torrent = id_field<Digest>(fields, "torrent");
    pack.magnet = fields.text("magnet", magnet_bytes_max);
    if (!fields.failed() && !pack.magnet.starts_with("magnet:?")) fields.fail("\"magnet\" is not a magnet link");
    pack.driver_min = static_cast<std::uint32_t>(fields.integer_or("driver", 0, version_part_max, 0));
    pack.url = link_field(fields, "url");
    if (const Status whole = fields.finish(); !whole) return whole.error();
    return pack;
}

json json_of(const Release& release) {
    return {{"version", release.version.text()},
            {"date", release.date},
            {"protocol", release.protocol},
            {"notes", release.notes},
            {"page", release.page}};
}

json json_of(const Pack& pack) {
    json apps = json::array();
    for (const Version& app : pack.apps) apps.push_back(app.text());
    return {{"name", pack.name},
            {"kind", name_of(pack.kind)},
            {"apps", apps},
            {"system", pack.system},
            {"architecture", pack.architecture},
            {"size", pack.size},
            {"unpacked", pack.unpacked},
            {"files", pack.files},
            {"sha256", pack.sha256.hex()},
            {"root", pack.root.hex()},
            {"torrent", pack.torrent.hex()},
            {"magnet", pack.magnet},
            {"driver", pack.driver_min},
            {"url", pack.url}};
}

template <class Entry>
Status read_entries(const json& list, Result<Entry> (*read)(const json&), std::vector<Entry>& out) {
    for (const json& object : list) {
        Result<Entry> entry = read(object);
        if (!entry) return entry.error();
        out.push_back(*std::move(entry));
    }
    return {};
}

/// Lower comes first in a list of packs. A GPU's pack that this computer cannot use is left out, so every one of them
/// is worth more than the processor's.
int rank_of(PackKind kind) { return kind == PackKind::cuda ? 0 : kind == PackKind::cpu ? 1 : 2; }

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
    Version version;
    for (std::size_t part = 0; part < version.parts.size(); ++part) {
        const std::size_t dot = text.find('.');
        const auto number = number_of(text.substr(0, dot), version_part_max);
        if (!number) return std::nullopt;
        version.parts[part] = *number;
        if (dot == std::string_view::npos) return part > 0 ? std::optional(version) : std::nullopt;
        text.remove_prefix(dot + 1);
    }
    return std::nullopt;
}

std::string Version::text() const {
    return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]);
}

std::optional<PackKind> pack_kind_of(std::string_view name) {
    const auto found = std::ranges::find_if(pack_kind_names, [&](const char* known) { return name == known; });
    if (found == pack_kind_names.end()) return std::nullopt;
    return static_cast<PackKind>(found - pack_kind_names.begin());
}

bool Pack::serves(const Version& app) const { return std::ranges::find(apps, app) != apps.end(); }

Result<Pack> Pack::parse(std::string_view text) {
    const Result<json> object = parse_json(text, index_bytes_max);
    if (!object) return object.error();
    return pack_of(*object);
}

std::string Pack::to_text() const { return json_of(*this).dump(1) + "\n"; }

Result<Index> Index::parse(std::string_view text) {
    const Result<json> object = parse_json(text, index_bytes_max);
    if (!object) return object.error();
    Fields fields(*object, "release index");
    const std::string format = fields.text("format", word_bytes_max);
    if (!fields.failed() && format != format_name)
        fields.fail("\"format\" is another than this version of Potluck can read; get a newer one");
    Index index;
    index.serial = fields.integer("serial", 1, 1ULL << 40U);
    index.issued = static_cast<std::int64_t>(fields.integer("issued", 0, time_max));
    index.expires = static_cast<std::int64_t>(fields.integer("expires", 0, time_max));
    const json& releases = fields.array("releases", releases_max);
    const json& packs = fields.array("packs", packs_max);
    if (const Status whole = fields.finish(); !whole) return whole.error();
    if (const Status read = read_entries(releases, release_of, index.releases); !read) return read.error();
    if (const Status read = read_entries(packs, pack_of, index.packs); !read) return read.error();
    return index;
}

std::string Index::to_text() const {
    json object = {{"format", format_name}, {"serial", serial},          {"issued", issued},
                   {"expires", expires},    {"releases", json::array()}, {"packs", json::array()}};
    for (const Release& release : releases) object["releases"].push_back(json_of(release));
    for (const Pack& pack : packs) object["packs"].push_back(json_of(pack));
    return object.dump(1) + "\n";
}

Result<Index> accept_index(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                           const Known& known) {
    const std::string what = "The release index";
    if (const Status made = check_signature(key, text, signature, what); !made) return made.error();
    Result<Index> index = Index::parse(as_text(text));
    if (!index) return index;
    const Status current = check_age({.serial = index->serial, .expires = index->expires}, known, what);
    if (!current) return current.error();
    return index;
}

std::vector<Pack> packs_for(const Index& index, const Computer& computer) {
    std::vector<Pack> fitting;
    for (const Pack& pack : index.packs) {
        const bool here = pack.system == computer.system && pack.architecture == computer.architecture;
        const bool driven =
            pack.kind != PackKind::cuda || (computer.nvidia_driver > 0 && computer.nvidia_driver >= pack.driver_min);
        if (here && driven && pack.serves(computer.app)) fitting.push_back(pack);
    }
    std::ranges::stable_sort(fitting, {}, [](const Pack& pack) { return rank_of(pack.kind); });
    return fitting;
}

const Release* newer_release(const Index& index, const Version& own) {
    const auto newest = std::ranges::max_element(index.releases, {}, &Release::version);
    return newest == index.releases.end() || newest->version <= own ? nullptr : &*newest;
}

std::uint32_t nvidia_driver_of(std::string_view text) {
    constexpr std::string_view before = "Kernel Module";
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + before.size());
    const std::size_t first = text.find_first_of("0123456789\n");
    const std::size_t dot = text.find('.', std::min(first, text.size()));
    if (first == std::string_view::npos || dot == std::string_view::npos) return 0;
    return number_of(text.substr(first, dot - first), version_part_max).value_or(0);
}

}  // namespace potluck::release
