// The settings are one JSON object of a closed set of fields, of which only those are written that differ from their
// defaults. A field that is unknown, of another type or out of its bounds makes the file a damaged one, which is
// refused with what to do: a node that went on with half of its settings would share or train what its owner has not
// allowed.
//
// What a start says is put over what was saved and is saved with it, so that command line and window write the same
// settings.
//
// What a person says of itself is fitted to a status message on the way in. A name is cut, with blanks in place of
// control characters. A team is made what others receive of it (plain_text_of), since teams are compared byte by byte:
// else this computer would count its person with another team than everybody else does.
#include "app/node/session/settings.h"

#include "app/node/session/own_proxy.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/find/announcement.h"
#include "core/run/plain_text.h"

namespace potluck::node {

namespace {

constexpr std::size_t settings_bytes_max = 64 * 1024;
constexpr std::uint64_t moment_max = 1ULL << 40U;

std::filesystem::path file_of(const std::filesystem::path& folder) { return folder / "node.json"; }

Result<std::optional<SavedRun>> run_from(Fields& fields) {
    if (!fields.has("run")) return std::optional<SavedRun>();
    Fields row(fields.object("run"), "saved run");
    SavedRun run;
    const auto invite = run::Invite::parse(row.text("invite", run::invite_bytes_max));
    const std::string role = row.text("role", 16);
    run.role = role == "backbone" ? run::Role::backbone : run::Role::volunteer;
    if (role != "backbone" && role != "volunteer") row.fail("A role is backbone or volunteer.");
    run.finishing = row.flag_or("finishing", false);
    if (row.flag_or("then_leave", false)) run.after = control::AfterFinish::leave;
    run.announcing = Announcing{.on_board = row.flag_or("announces", false),
                                .language = row.text_or("language", find::language_bytes_max, ""),
                                .page = row.text_or("page", find::page_bytes_max, "")};
    if (!run.announcing.check()) row.fail("a language or page cannot be announced");
    if (const Status done = row.finish(); !done) return done.error();
    if (!invite) return invite.error();
    run.invite = *invite;
    return std::optional(run);
}

}  // namespace

Status Announcing::check() const {
    if (!find::is_language(language))
        return Error{ErrorCode::invalid_argument, "A language is a tag such as de or pt-BR."};
    if (!find::is_page(page)) {
        return Error{ErrorCode::invalid_argument,
                     "A page is a link that begins with https:// or http://, of at most 160 letters."};
    }
    return {};
}

Result<NodeSettings> NodeSettings::load(const std::filesystem::path& data_folder) {
    if (!std::filesystem::exists(file_of(data_folder))) return NodeSettings{};
    const auto damaged = [&](const std::string& why) {
        return Error{ErrorCode::malformed, "The settings " + file_of(data_folder).string() + " are damaged (" + why +
                                               "); delete that file to start with default settings."};
    };
    const auto bytes = read_file(file_of(data_folder), settings_bytes_max);
    if (!bytes) return bytes.error();
    const auto json = parse_json(as_text(*bytes), settings_bytes_max);
    if (!json) return damaged(json.error().message);
    Fields fields(*json, "settings");
    NodeSettings settings;
    settings.name = fit_name(fields.text_or("name", 256, ""));
    settings.team = fit_team(fields.text_or("team", 256, ""));
    settings.paused = fields.flag_or("paused", false);
    settings.paused_until = static_cast<std::int64_t>(fields.integer_or("paused_until", 0, moment_max, 0));
    if (fields.has("resources")) {
        if (const Status read = from_json(fields.object("resources"), settings.resources); !read) {
            return damaged(read.error().message);
        }
    }
    if (fields.has("proxy")) {
        control::SetProxy saved;
        if (const Status read = from_json(fields.object("proxy"), saved); !read) return damaged(read.error().message);
        const auto proxy = proxy_of(saved, {});
        if (!proxy) return damaged(proxy.error().message);
        settings.proxy = *proxy;
    }
    settings.port = static_cast<std::uint16_t>(fields.integer_or("port", 0, 65'535, 0));
    settings.looks = fields.flag_or("looks_for_releases", false);
    settings.passes_on = fields.flag_or("passes_packs_on", true);
    settings.helps_lists = fields.flag_or("helps_lists", false);
    if (fields.has("limits")) {
        if (const Status limits = from_json(fields.object("limits"), settings.budget); !limits) {
            return damaged(limits.error().message);
        }
    }
    if (fields.has("rules")) {
        control::OwnerRules described;
        if (const Status read = from_json(fields.object("rules"), described); !read)
            return damaged(read.error().message);
        const auto rules = control::rules_of(described);
        if (!rules) return damaged(rules.error().message);
        settings.rules = *rules;
    }
    auto run = run_from(fields);
    if (!run) return damaged(run.error().message);
    settings.run = *run;
    if (const Status done = fields.finish(); !done) return damaged(done.error().message);
    return settings;
}

void NodeSettings::forget_person() {
    name.clear();
    team.clear();
}

Status NodeSettings::save(const std::filesystem::path& data_folder) const {
    nlohmann::json json{{"name", name}, {"paused", paused}, {"paused_until", paused_until}};
    if (!team.empty()) json["team"] = team;
    if (run) {
        json["run"] = {{"invite", run->invite.to_magnet()},
                       {"role", run->role == run::Role::backbone ? "backbone" : "volunteer"},
                       {"finishing", run->finishing},
                       {"then_leave", run->after == control::AfterFinish::leave}};
        if (run->announcing != Announcing{}) {
            json["run"].update({{"announces", run->announcing.on_board},
                                {"language", run->announcing.language},
                                {"page", run->announcing.page}});
        }
    }
    if (budget != control::Budget{}) json["limits"] = to_json(budget);
    if (resources != control::Resources{}) json["resources"] = to_json(resources);
    if (proxy.is_used()) json["proxy"] = to_json(kept(proxy));
    if (port != 0) json["port"] = port;
    if (looks) json["looks_for_releases"] = true;
    if (!passes_on) json["passes_packs_on"] = false;
    if (helps_lists) json["helps_lists"] = true;
    if (rules != activity::Rules{}) json["rules"] = to_json(control::described(rules));
    const std::string text = json.dump(2) + "\n";
    return write_file_atomically(file_of(data_folder), as_bytes(text), FileAccess::private_to_owner);
}

void NodeSettings::apply(const LimitOptions& limits) {
    budget.device = limits.device.value_or(budget.device);
    budget.gpu_memory = limits.gpu_memory.value_or(budget.gpu_memory);
    budget.ram = limits.ram.value_or(budget.ram);
    resources.disk = limits.disk.value_or(resources.disk);
    resources.upload = limits.upload.value_or(resources.upload);
    resources.download = limits.download.value_or(resources.download);
    resources.effort = limits.effort.value_or(resources.effort);
}

void NodeSettings::apply(const NetworkOptions& options) { proxy = options.proxy.value_or(proxy); }

void NodeSettings::apply(const RuleOptions& options) {
    if (options.pause_for) {
        rules.on.fill(false);
        for (const activity::Signal signal : *options.pause_for) rules.on[activity::place_of(signal)] = true;
    }
    if (options.hours) rules.schedule = *options.hours;
}

void NodeSettings::apply(const ReleaseOptions& options) {
    looks = options.looks.value_or(looks);
    passes_on = options.passes_on.value_or(passes_on);
}

Result<std::string> parse_device_choice(const std::string& text) {
    if (text == "any") return std::string();
    const auto devices = control::devices_of_choice(text);
    if (devices && !devices->empty()) return control::choice_of(*devices);
    return Error{ErrorCode::invalid_argument,
                 "A device is cpu, cuda:0, cuda:1 and so on, several GPUs as cuda:0,cuda:1, mps, or any for all GPUs."};
}

namespace {

std::string without_controls(std::string_view text) {
    std::string shown;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        shown.push_back(byte < 0x20 || byte == 0x7F ? ' ' : character);
    }
    return shown;
}

}  // namespace

std::string fit_name(std::string_view name) {
    std::string fitted = without_controls(name);
    fitted.resize(utf8_prefix(fitted, run::name_bytes_max).size());
    return fitted;
}

std::string fit_team(std::string_view team) {
    const std::string shown = without_controls(team);
    std::string fitted = run::plain_text_of(shown, shown.size(), run::LineBreaks::refused);
    fitted.erase(0, fitted.find_first_not_of(' '));
    fitted.resize(utf8_prefix(fitted, run::team_bytes_max).size());
    fitted.resize(fitted.find_last_not_of(' ') + 1);
    return fitted;
}

}  // namespace potluck::node
