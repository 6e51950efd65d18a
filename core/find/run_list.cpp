// The parser reads a closed set of fields with a bound for each, although the text is signed: its maker may be anybody.
//
// A link to a list comes from a chat or a QR code, hence from anyone as well: its place has to be of the web or a
// torrent, so that no link makes a node read a file, and its key has to parse. Whatever else stands in the link is
// ignored, so that later versions may add to it.
#include "core/find/run_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/find/list_torrent.h"
#include "core/run/plain_text.h"

namespace potluck::find {

namespace {

using nlohmann::json;

constexpr const char* format_name = "potluck-list-1";
constexpr std::string_view list_scheme = "potluck:list?";
constexpr std::int64_t time_max = 1LL << 40U;

bool can_be_shown(const std::string& text) {
    return run::plain_text_length(text, run::LineBreaks::refused).has_value();
}

template <class Id>
Id id_field(Fields& fields, const char* name) {
    const auto id = Id::parse(fields.text(name, 64));
    if (!id && !fields.failed()) fields.fail('"' + std::string(name) + "\" is not 64 hexadecimal digits");
    return id.value_or(Id{});
}

std::string text_field(Fields& fields, const char* name, std::size_t bytes_max) {
    std::string text = fields.text(name, bytes_max);
    if (!can_be_shown(text)) fields.fail('"' + std::string(name) + "\" cannot be shown");
    return text;
}

Result<ListedRun> run_of(const json& object) {
    Fields fields(object, "run of a list");
    ListedRun run;
    run.run = id_field<RunId>(fields, "run");
    run.host = id_field<PeerId>(fields, "host");
    run.line = text_field(fields, "line", list_line_bytes_max);
    if (const Status whole = fields.finish(); !whole) return whole.error();
    return run;
}

bool names_a_run_twice(const std::vector<ListedRun>& runs) {
    std::set<RunId> seen;
    return !std::ranges::all_of(runs, [&](const ListedRun& one) { return seen.insert(one.run).second; });
}

}  // namespace

Result<RunList> RunList::parse(std::string_view text) {
    const auto object = parse_json(text, list_bytes_max);
    if (!object) return object.error();
    Fields fields(*object, "list of runs");
    if (fields.text("format", 40) != format_name && !fields.failed()) fields.fail("it is no list of runs");
    RunList list;
    list.serial = fields.integer("serial", 0, time_max);
    list.issued = static_cast<std::int64_t>(fields.integer("issued", 0, time_max));
    list.expires = static_cast<std::int64_t>(fields.integer("expires", 0, time_max));
    list.title = text_field(fields, "title", list_title_bytes_max);
    const json& runs = fields.array("runs", listed_runs_max);
    if (const Status whole = fields.finish(); !whole) return whole.error();
    for (const json& row : runs) {
        auto run = run_of(row);
        if (!run) return run.error();
        list.runs.push_back(*std::move(run));
    }
    if (names_a_run_twice(list.runs)) return Error{ErrorCode::malformed, "A list of runs names a run twice."};
    return list;
}

std::string RunList::to_text() const {
    json object{{"format", format_name}, {"serial", serial}, {"issued", issued},
                {"expires", expires},    {"title", title},   {"runs", json::array()}};
    for (const ListedRun& one : runs)
        object["runs"].push_back({{"run", one.run.hex()}, {"host", one.host.hex()}, {"line", one.line}});
    return object.dump(1) + "\n";
}

Status RunList::add(ListedRun run) {
    if (run.line.size() > list_line_bytes_max || !can_be_shown(run.line))
        return Error{ErrorCode::invalid_argument, "The line about a run is one line of at most 300 bytes."};
    const auto known = std::ranges::find(runs, run.run, &ListedRun::run);
    if (known != runs.end()) {
        *known = std::move(run);
        return {};
    }
    if (runs.size() == listed_runs_max)
        return Error{ErrorCode::invalid_argument, "A list names at most 256 runs; remove one first."};
    runs.push_back(std::move(run));
    return {};
}

Status RunList::remove(const RunId& run) {
    if (std::erase_if(runs, [&](const ListedRun& one) { return one.run == run; }) > 0) return {};
    return Error{ErrorCode::not_found, "This list does not name that run."};
}

Result<RunList> accept_list(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                            const release::Known& known) {
    const std::string what = "The list of runs";
    if (const Status made = release::check_signature(key, text, signature, what); !made) return made.error();
    Result<RunList> list = RunList::parse(as_text(text));
    if (!list) return list;
    const Status current = release::check_age({.serial = list->serial, .expires = list->expires}, known, what);
    if (!current) return current.error();
    return list;
}

std::string ListLink::to_link() const {
    return std::string(list_scheme) + "from=" + percent_encoded(source) + "&key=" + percent_encoded(key);
}

Result<ListLink> ListLink::parse(std::string_view text) {
    const Error bad{
        ErrorCode::malformed,
        "A list is followed by a link that begins with potluck:list, or by its https or magnet link and its key."};
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
    if (text.size() > list_link_bytes_max) return bad;
    ListLink link;
    if (same_letters(text.substr(0, list_scheme.size()), list_scheme)) {
        text.remove_prefix(list_scheme.size());
        while (!text.empty()) {
            const std::string_view part = text.substr(0, text.find('&'));
            text.remove_prefix(std::min(part.size() + 1, text.size()));
            const auto value =
                percent_decoded(part.substr(std::min(part.find('='), part.size() - 1) + 1), Plus::literal);
            if (!value) return bad;
            if (part.starts_with("from=")) link.source = *value;
            if (part.starts_with("key=")) link.key = *value;
        }
    } else {
        const std::size_t blank = text.find(' ');
        if (blank == std::string_view::npos) return bad;
        link.source = text.substr(0, blank);
        link.key = text.substr(text.find_last_of(' ') + 1);
    }
    const bool is_source = is_magnet(link.source) ? ListTorrent::parse(link.source).ok() : is_page(link.source);
    if (link.source.empty() || !is_source || !identity::MinisignKey::parse(link.key)) return bad;
    return link;
}

void add_to(Trust& trust, const RunList& list) {
    for (const ListedRun& one : list.runs) trust.listed.try_emplace({one.run, one.host}, one.line);
}

}  // namespace potluck::find
