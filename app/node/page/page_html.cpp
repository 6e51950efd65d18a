// One function for each section, from what a visitor asks first (what is this, how far is it) to what a member looks
// up. A section without content is left out. Two rules keep strangers' words harmless: text comes in through escaped()
// or name_html() only, and a link is written only if it begins like a magnet link.
//
// A stored node (nobody runs) has totals, losses and leaderboard, but no members; the page then says when it was
// written and nothing of who is there.
#include "app/node/page/page_html.h"

#include <algorithm>
#include <cmath>

#include "app/node/page/curve_svg.h"
#include "app/node/page/html.h"
#include "app/node/page/page_picture.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

using control::RunSnapshot;

constexpr std::size_t members_shown_max = 200, checkpoints_shown_max = 50, key_digits = 12;
constexpr std::string_view magnet_begin = "magnet:?";
constexpr std::size_t og_text_bytes_max = 250;

std::string element(const char* tag, const std::string& content) {
    return "<" + std::string(tag) + ">" + content + "</" + tag + ">";
}

std::string section(const char* id, const char* title, const std::string& content) {
    if (content.empty()) return {};
    return "<section id=\"" + std::string(id) + "\" aria-labelledby=\"" + id + "-title\">\n<h2 id=\"" + id +
           "-title\">" + title + "</h2>\n" + content + "</section>\n";
}

std::string table(const std::vector<const char*>& titles, const std::string& rows) {
    std::string head;
    for (const char* title : titles) head += "<th scope=\"col\">" + std::string(title) + "</th>";
    return "<div class=\"wide\"><table>\n<thead><tr>" + head + "</tr></thead>\n<tbody>\n" + rows +
           "</tbody></table></div>\n";
}

std::string row(const std::vector<std::string>& cells) {
    std::string html;
    for (const std::string& cell : cells) html += element("td", cell);
    return "<tr>" + html + "</tr>\n";
}

std::string number_cell(const std::string& text) { return "<span class=\"number\">" + text + "</span>"; }

std::string loss_text(double loss) { return loss > 0 && std::isfinite(loss) ? formatted("%.3f", loss) : "&ndash;"; }

/// A link to open it, and the text to copy; nothing if it is no magnet link.
std::string magnet_html(const std::string& magnet, const char* label) {
    if (!magnet.starts_with(magnet_begin)) return {};
    const std::string safe = escaped(magnet);
    return "<p><a class=\"button\" href=\"" + safe + "\">" + label + "</a></p>\n<pre class=\"copy\">" + safe +
           "</pre>\n";
}

/// What a chat shows of a pasted link (ogp.me). A picture has to be named with its whole address, so there is one only
/// where the page knows its own.
std::string open_graph(const RunSnapshot& run) {
    const auto property = [](const char* name, const std::string& content) {
        return "<meta property=\"og:" + std::string(name) + "\" content=\"" + content + "\">\n";
    };
    std::string text = log::printable(run.purpose, og_text_bytes_max);
    if (!text.empty()) text += " ";
    text += "Round " + std::to_string(run.round) + " of " + std::to_string(run.total_rounds) +
            ". Everybody can help to train it with Potluck.";
    std::string html = property("type", "website") + property("site_name", "Potluck") +
                       property("title", escaped(run.name)) + property("description", escaped(text));
    const std::size_t behind = run.link.find('#');
    if (!run.link.starts_with("http") || behind == std::string::npos) return html;
    const std::string page = run.link.substr(0, behind);
    const std::string folder = page.substr(0, page.rfind('/') + 1);
    constexpr std::size_t scheme_bytes_max = 8;  // "https://"
    const std::string base = folder.size() > scheme_bytes_max ? folder : page + "/";
    return html + property("url", escaped(page)) + property("image", escaped(base + std::string(page_picture_name))) +
           property("image:width", std::to_string(page_picture_width)) +
           property("image:height", std::to_string(page_picture_height)) +
           "<meta name=\"twitter:card\" content=\"summary_large_image\">\n";
}

std::string head_html(const std::string& title, const std::string& graph = {}) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
           "http-equiv=\"Content-Security-Policy\" "
           "content=\"" +
           std::string(page_policy) +
           "\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" "
           "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
           "dark\">\n<title>" +
           title + "</title>\n" + graph +
           "<link rel=\"icon\" type=\"image/svg+xml\" href=\"icon.svg\">\n<link rel=\"stylesheet\" "
           "href=\"page.css\">\n"
           "<script src=\"page.js\" defer></script>\n</head>\n";
}

std::string activity_html(const PageFacts& facts, const RunSnapshot& run) {
    if (run.round >= run.total_rounds) return "Complete";
    if (facts.status.activity == control::Activity::not_running) return "Not seen by this node now";
    const auto trains = [](const control::MemberRow& one) { return one.tokens_per_second > 0; };
    return std::any_of(run.members.begin(), run.members.end(), trains) ? "Training" : "Waiting for volunteers";
}

std::string introduction(const PageFacts& facts, const RunSnapshot& run) {
    std::string html = "<header>\n<p class=\"brand\">Potluck</p>\n<h1>" + name_html(run.name) + "</h1>\n";
    if (!run.purpose.empty()) html += "<p class=\"purpose\">" + escaped(run.purpose) + "</p>\n";
    const std::string done = std::to_string(run.round), total = std::to_string(run.total_rounds);
    html += "<p class=\"state\"><strong>" + activity_html(facts, run) + "</strong> &middot; round " +
            grouped(run.round) + " of " + grouped(run.total_rounds) + "</p>\n<progress value=\"" + done + "\" max=\"" +
            std::to_string(std::max<std::uint64_t>(run.total_rounds, 1)) + "\">" + done + " of " + total +
            " rounds</progress>\n";
    return html + "</header>\n";
}

std::string tile(const std::string& value, const std::string& label) {
    return "<div><dt>" + label + "</dt><dd>" + value + "</dd></div>\n";
}

std::string tiles(const PageFacts& facts, const RunSnapshot& run) {
    const auto is_volunteer = [](const control::MemberRow& one) { return one.role == run::Role::volunteer; };
    const auto known = std::count_if(run.members.begin(), run.members.end(), is_volunteer);
    const std::uint64_t volunteers = static_cast<std::uint64_t>(known) + run.findings.members_beyond;
    std::string html = "<dl class=\"tiles\">\n";
    if (facts.status.activity != control::Activity::not_running) {
        html += tile(grouped(volunteers), "volunteers now");
        html += tile(grouped(run.swarm_tokens_per_second), "tokens a second");
    }
    html += tile(grouped(facts.leaders.size()), "have contributed");
    html += tile(grouped(run.accepted_tokens), "tokens trained on");
    const bool measured = run.validation_loss > 0;
    html += measured ? tile(loss_text(run.validation_loss), "on new data") : tile(loss_text(run.loss), "in training");
    for (const control::Figure& figure : run.figures)
        html += tile(escaped(control::value_text(figure)), escaped(log::printable(figure.title)));
    return html + "</dl>\n";
}

bool of_pictures(model::Baseline baseline) {
    return baseline == model::Baseline::mean_colour || baseline == model::Baseline::chance;
}

/// What the model does on data that nobody trains on, beside what a simple table does there.
std::string validation_html(const PageFacts& facts, const RunSnapshot& run) {
    const std::string measured = model::loss_title(run.baseline);
    const std::string svg = curve_svg({CurveKind::validation, facts.curve, run.total_rounds, run.bigram_loss,
                                       model::title_of(run.baseline), measured});
    if (svg.empty()) return {};
    std::string legend = "<li class=\"validation\">the model</li>";
    if (run.bigram_loss > 0) {
        legend += std::string("<li class=\"baseline\">a ") + model::title_of(run.baseline) + " model, " +
                  formatted("%.3f", run.bigram_loss) + "</li>";
    }
    const char* plain = of_pictures(run.baseline) ? "How far off it is on new pictures; lower is better."
                                                  : "How surprised it is by new text; lower is better.";
    return "<figure>\n" + svg + "<figcaption><span title=\"" + measured + "\">" + plain +
           "</span></figcaption>\n<ul class=\"legend\">" + legend + "</ul>\n</figure>\n";
}

/// What members reach on the data that they train on at the moment: neither the model nor data that can be compared.
std::string training_html(const PageFacts& facts, const RunSnapshot& run) {
    const std::string measured = model::loss_title(run.baseline);
    const std::string svg = curve_svg({CurveKind::training, facts.curve, run.total_rounds, 0, {}, measured});
    if (svg.empty()) return {};
    return "<figure>\n" + svg + "<figcaption>Mean of the members in training, on what they train on; " +
           "not comparable with the model.</figcaption>\n</figure>\n";
}

std::string curve_html(const PageFacts& facts, const RunSnapshot& run) {
    const std::string validation = validation_html(facts, run), training = training_html(facts, run);
    if (validation.empty() || training.empty()) return validation + training;
    return validation + "<details><summary>The members in training</summary>\n" + training + "</details>\n";
}

std::string fact(const char* what, const std::string& value) {
    return "<dt>" + std::string(what) + "</dt><dd>" + value + "</dd>\n";
}

std::string what_is_trained(const PageFacts& facts, const RunSnapshot& run) {
    std::string html = "<dl class=\"facts\">\n" + fact("Model", escaped(run.model));
    if (facts.manifest) {
        const run::Manifest& manifest = *facts.manifest;
        std::uint64_t tokens = 0;
        for (const run::Shard& shard : manifest.shards) tokens += shard.records * (manifest.model.context + 1);
        html += fact("Data", grouped(tokens) + " tokens in " + grouped(manifest.shards.size()) +
                                 (manifest.shards.size() == 1 ? " shard" : " shards") + ", a vocabulary of " +
                                 grouped(manifest.model.vocabulary) + ", " + grouped(manifest.model.context) +
                                 " tokens of context");
        html += fact("Began", time_text(manifest.created));
        html += fact("Host", "<code>" + manifest.host.hex().substr(0, key_digits) + "</code>");
    }
    html += fact("Licence", escaped(run.licence));
    return html + fact("Run", "<code>" + escaped(run.id) + "</code>") + "</dl>\n";
}

const char* phase_text(const control::MemberRow& member) {
    if (member.role == run::Role::backbone) return "backbone";
    return member.phase == run::Phase::paused ? "paused" : member.tokens_per_second > 0 ? "training" : "here";
}

std::string members_html(const RunSnapshot& run) {
    std::vector<control::MemberRow> members = run.members;
    std::ranges::stable_sort(members, std::greater(), &control::MemberRow::tokens_per_second);
    const std::size_t shown = std::min(members.size(), members_shown_max);
    std::string rows;
    for (std::size_t i = 0; i < shown; ++i) {
        const control::MemberRow& one = members[i];
        rows += row({name_html(one.name), phase_text(one), number_cell(grouped(one.tokens_per_second)),
                     number_cell(loss_text(one.loss))});
    }
    if (rows.empty()) return {};
    std::string html = table({"name", "doing", "tokens/s", "loss"}, rows);
    if (run.members_in_all() > shown) html += "<p>and " + grouped(run.members_in_all() - shown) + " more.</p>\n";
    return html;
}

std::string leaders_html(const PageFacts& facts) {
    std::string rows;
    for (const control::LeaderboardRow& one : facts.leaders) {
        rows += row({number_cell(std::to_string(one.rank)), name_html(one.name),
                     "<code>" + escaped(one.id.substr(0, key_digits)) + "</code>", number_cell(grouped(one.tokens)),
                     number_cell(grouped(one.rounds)), number_cell(formatted("%.1f %%", 100 * one.share))});
    }
    if (rows.empty()) return {};
    return table({"", "name", "key", "tokens", "rounds", "share"}, rows) +
           "<p class=\"note\">Names are what members call themselves; only keys are verified.</p>\n";
}

std::string samples_html(const std::vector<PageSample>& samples) {
    std::string html;
    for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
        const bool newest = sample == samples.rbegin();
        html += "<details" + std::string(newest ? " open" : "") + "><summary>After round " + grouped(sample->round) +
                " <span class=\"note\">" + time_text(sample->at) + "</span></summary>\n<pre class=\"sample\"><b>" +
                escaped(sample->prompt) + "</b>" + escaped(sample->text) + "</pre></details>\n";
    }
    return html;
}

std::string hash_line(const char* what, const std::string& hash) {
    return hash.empty() ? "" : "<br><span class=\"note\">" + std::string(what) + "</span> <code>" + hash + "</code>";
}

std::string checkpoints_html(const PageFacts& facts) {
    std::string items;
    std::size_t shown = 0;
    for (auto one = facts.checkpoints.rbegin(); one != facts.checkpoints.rend(); ++one) {
        if (++shown > checkpoints_shown_max) break;
        const MagnetHashes hashes = hashes_of(one->magnet);
        const bool proven = std::ranges::find(facts.proofs, one->round) != facts.proofs.end();
        const bool link = one->magnet.starts_with(magnet_begin);
        items += "<li><strong>Round " + grouped(one->round) + "</strong>, " + byte_count_text(one->bytes);
        if (link) items += " &middot; <a href=\"" + escaped(one->magnet) + "\">magnet link</a>";
        if (proven) items += " &middot; <a href=\"" + proof_name(one->round) + "\" download>proof</a>";
        items += hash_line("v1", hashes.v1) + hash_line("v2", hashes.v2) + hash_line("state", escaped(one->digest)) +
                 "</li>\n";
    }
    if (items.empty()) return {};
    std::string html = "<ul class=\"checkpoints\">\n" + items + "</ul>\n";
    if (!facts.proofs.empty()) {
        html +=
            "<p class=\"note\">A proof says who agreed on a checkpoint, and is checked without a network:</p>\n"
            "<pre>potluck-node verify FILE --proof PROOF</pre>\n";
    }
    return html;
}

/// Nothing once the run is over: nobody trains in it any more.
std::string join_html(const RunSnapshot& run) {
    if (run.closed) return {};
    const std::string link = magnet_html(run.magnet, "Join with Potluck");
    if (link.empty()) return {};
    return "<p>Install Potluck, paste this invite and click <b>Join</b>. Your computer trains while you do not need "
           "it.</p>\n" +
           link +
           "<p class=\"note\">Or in a terminal: <code>potluck-node join</code> and the invite in quotation "
           "marks.</p>\n";
}

std::string footer(const PageFacts& facts) {
    std::string html =
        "<footer><p>Written <time datetime=\"" + time_stamp(facts.now) + "\">" + time_text(facts.now) + "</time>";
    if (facts.every > 0) html += ", and again every " + grouped(static_cast<std::uint64_t>(facts.every)) + " seconds";
    return html + ". What this page shows is what one member of the run knows.</p></footer>\n";
}

}  // namespace

std::string proof_name(std::uint64_t round) { return "round-" + std::to_string(round) + ".proof"; }

MagnetHashes hashes_of(std::string_view magnet) {
    const auto after = [&](std::string_view key, std::size_t digits) -> std::string {
        const std::size_t at = magnet.find(key);
        if (at == std::string_view::npos) return {};
        const std::string_view hash = magnet.substr(at + key.size(), digits);
        const bool whole = hash.size() == digits && std::all_of(hash.begin(), hash.end(), is_hex_digit);
        return whole ? std::string(hash) : std::string();
    };
    return {after("xt=urn:btih:", 40), after("xt=urn:btmh:1220", 64)};
}

std::string page_html(const PageFacts& facts) {
    const std::string every = std::to_string(facts.every);
    if (!facts.status.run) {
        return head_html("Potluck") + "<body data-every=\"" + every +
               "\">\n<main>\n<header><p class=\"brand\">Potluck</p><h1>No run yet</h1></header>\n<p>The node behind "
               "this "
               "page is in no run now.</p>\n" +
               footer(facts) + "</main>\n</body>\n</html>\n";
    }
    const RunSnapshot& run = *facts.status.run;
    return head_html(escaped(run.name), open_graph(run)) + "<body data-every=\"" + every + "\">\n<main>\n" +
           introduction(facts, run) + tiles(facts, run) +
           section("loss", "What it has learned", curve_html(facts, run)) + section("join", "Join", join_html(run)) +
           section("model", "What is trained", what_is_trained(facts, run)) +
           section("members", "Here now", members_html(run)) + section("leaders", "Leaderboard", leaders_html(facts)) +
           section("samples", "What it writes", samples_html(facts.samples)) +
           section("checkpoints", "Checkpoints", checkpoints_html(facts)) + footer(facts) +
           "</main>\n</body>\n</html>\n";
}

}  // namespace potluck::node
