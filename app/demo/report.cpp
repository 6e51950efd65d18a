// The report as sentences of what is wrong, as JSON and as text. A fault is whatever a good run never has, on any
// computer: a digest that differs, a model that learned nothing, a volunteer that had time and was not credited, tokens
// that two books count differently. What only tells how fast a computer is, as a baseline that was not beaten within
// the time, or how many others a swarm was worth, is no fault.
//
// The sample is the model's own and may be any bytes: it is made harmless before a terminal or JSON sees it.
#include "app/demo/report.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "app/demo/table.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/model/traits.h"

namespace potluck::node {

namespace {

constexpr std::size_t name_shown = 24;
constexpr std::uint64_t views_lost_max = 3;  // rounds that the killed volunteer is away, and one to be noticed

/// Text of a model that may not be UTF-8, as lines that JSON and a terminal take.
std::string harmless(const std::string& text) {
    std::string lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (!lines.empty()) lines.push_back('\n');
        lines += log::printable(line, 400);
    }
    return lines;
}

constexpr const char* bounds[] = {"", "at most ", "at least "};

nlohmann::json worth_json(const DemoReport& report) {
    if (report.alone.empty()) return nullptr;
    const Worth worth = worth_of(report.alone, report.final_loss);
    nlohmann::json alone = nlohmann::json::array();
    for (const LonePoint& point : report.alone) alone.push_back({{"times", point.times}, {"loss", point.loss}});
    return {{"computers", worth.computers}, {"bound", bounds[static_cast<std::size_t>(worth.bound)]}, {"alone", alone}};
}

/// Whether it is better than what it is held against, if there is something.
bool beats_baseline(const control::Figure& figure) {
    return !figure.baseline || model::beats(figure.title, figure.value, *figure.baseline);
}

std::string figures_text(const std::string& whose, const std::vector<control::Figure>& figures) {
    std::string text;
    for (const control::Figure& figure : figures)
        text += formatted("  %-18s %s\n", (whose + log::printable(figure.title)).c_str(),
                          control::value_text(figure).c_str());
    return text;
}

constexpr double starts_in_time = 3;   // of a trainer: one, twice as slow as before, and some steps
constexpr double windows_in_time = 2;  // the one that goes on when it is there, and one of its own

/// Whether who had so many seconds could have been credited within them.
bool had_time(double seconds, const DemoReport& report) {
    return seconds >= starts_in_time * report.pace.start_seconds +
                          windows_in_time * (report.window_seconds + report.collect_seconds);
}

/// Windows that nobody collected: that of the killed volunteer and everybody's last. In a short run they are more than
/// a tenth.
bool credits_add_up(const DemoReport& report) {
    if (report.credited_tokens > report.trained_tokens) return false;
    const auto trained = static_cast<double>(report.trained_tokens);
    const double windows = report.contributions_per_round * static_cast<double>(report.rounds);
    const double each = windows > 0 ? static_cast<double>(report.credited_tokens) / windows : 0;
    const double missing_max =
        std::max((1 - credited_share_min) * trained, static_cast<double>(report.volunteers + 1) * each);
    return trained - static_cast<double>(report.credited_tokens) <= missing_max;
}

std::string share_text(const std::optional<double>& others) {
    if (!others) return "what other programs use is not known here";
    return formatted("other programs use %.0f %% of its processor", 100 * *others);
}

double speed_of(const DemoReport& report) {
    return report.seconds > 0 ? static_cast<double>(report.trained_tokens) / report.seconds : 0;
}

nlohmann::json computer_json(const DemoReport& report) {
    nlohmann::json found = {{"device", report.pace.device},
                            {"tokens_per_second", speed_of(report)},
                            {"tokens_per_second_each_before", report.pace.tokens_per_second},
                            {"trainer_start_seconds", report.pace.start_seconds},
                            {"window_seconds", report.window_seconds},
                            {"others_share", nullptr}};
    if (report.others) found["others_share"] = *report.others;
    return found;
}

std::optional<double> tokens_needed(const DemoReport& report) {
    const LossSoFar so_far{report.initial_loss, report.final_loss, report.first_tokens,
                           static_cast<double>(report.credited_tokens)};
    return report.final_loss > report.bigram_loss ? node::tokens_needed(so_far, report.bigram_loss) : std::nullopt;
}

}  // namespace

std::string worth_text(const std::vector<LonePoint>& alone, double loss) {
    if (alone.empty()) return "";
    const Worth worth = worth_of(alone, loss);
    std::string text = "  worth              " + std::string(bounds[static_cast<std::size_t>(worth.bound)]) +
                       formatted("%.1f computers; one alone reaches ", worth.computers);
    for (const LonePoint& point : alone) {
        text += formatted("%s%.3f with %.1f", &point == alone.data() ? "" : ", ", point.loss, point.times);
    }
    return text + " times a volunteer's tokens\n";
}

std::string computer_text(const Pace& pace, std::uint64_t volunteers) {
    return about(static_cast<double>(volunteers) * pace.tokens_per_second) + " tokens/s in all, " +
           about(pace.tokens_per_second) + " each of " + std::to_string(volunteers) +
           (pace.device.empty() ? "" : " (" + pace.device + ")") + "; " + share_text(pace.others);
}

bool has_beaten(const DemoReport& report, double lead) {
    return report.final_loss > 0 && report.final_loss < (1 - lead) * report.bigram_loss &&
           std::ranges::all_of(report.figures, beats_baseline);
}

std::vector<std::string> remarks_on(const DemoReport& report) {
    std::vector<std::string> remarks;
    const std::string tokens = about(static_cast<double>(report.credited_tokens)) + " tokens so far";
    if (report.final_loss >= report.bigram_loss) {
        const auto needed = tokens_needed(report);
        remarks.push_back("To beat the " + report.baseline + " baseline this computer needs more time: " + tokens +
                          (needed ? ", about " + about(*needed) + " needed." : "."));
    } else if (!has_beaten(report)) {
        const auto lacking = std::ranges::find_if_not(report.figures, beats_baseline);
        if (lacking != report.figures.end())
            remarks.push_back("For " + control::figure_text(*lacking) +
                              " to beat its baseline this computer needs more time: " + tokens + ".");
    }
    if (report.late_rounds == 0 && !had_time(report.late_seconds_left, report))
        remarks.emplace_back("This computer was too slow for the volunteer that joined late to be credited in time.");
    if (report.returned_rounds == 0 && !had_time(report.returned_seconds_left, report))
        remarks.emplace_back("This computer was too slow for the volunteer that was killed to be credited in time.");
    return remarks;
}

std::vector<std::string> faults_of(const DemoReport& report) {
    std::vector<std::string> faults = report.troubles;
    const auto require = [&](bool good, const std::string& fault) {
        if (!good) faults.push_back(fault);
    };
    require(report.digests_compared > 0 && report.digests_compared == report.digests_equal,
            "A digest differed between two nodes.");
    // The volunteer that is killed may have a seat, and be the one to propose while it is away.
    require(report.rounds_lost <= views_lost_max, std::to_string(report.rounds_lost) + " rounds were lost.");
    require(report.committee_size >= report.committee_size_wanted,
            "The run's committee did not grow to " + std::to_string(report.committee_size_wanted) + ".");
    require(report.rounds > 0, "No round was completed.");
    for (const DemoReport::Place& place : report.leaderboard) {
        require(place.tokens <= place.trained,
                log::printable(place.name) + " was credited more tokens than its trainer counted.");
    }
    for (const std::string& name : report.jury.wronged) require(false, name + " works and was suspended.");
    // A suspension takes credit back.
    require(!report.jury.liars.empty() || credits_add_up(report), "Credited tokens are not what the trainers counted.");
    require(report.final_loss > 0 && (report.rounds == 0 || report.final_loss < report.initial_loss),
            "The model has learned nothing.");
    require(!report.collapsed, "The model has collapsed: all pictures look alike to it.");
    require(report.late_rounds > 0 || !had_time(report.late_seconds_left, report),
            "The volunteer that joined late was not credited.");
    require(report.returned_rounds > 0 || !had_time(report.returned_seconds_left, report),
            "The volunteer that was killed was not credited after its return.");
    require(report.all_in_step, "Not every node ended with the same state.");
    require(report.closed, "Not every node has the list that certifies the last state.");
    return faults;
}

nlohmann::json to_json(const DemoReport& report) {
    nlohmann::json places = nlohmann::json::array();
    for (const DemoReport::Place& place : report.leaderboard) {
        places.push_back({{"name", log::printable(place.name)},
                          {"tokens", place.tokens},
                          {"rounds", place.rounds},
                          {"trained", place.trained}});
    }
    nlohmann::json found = {{"rounds", report.rounds},
                            {"rounds_wanted", report.rounds_wanted},
                            {"rounds_lost", report.rounds_lost},
                            {"committee_size", report.committee_size},
                            {"digests_compared", report.digests_compared},
                            {"digests_equal", report.digests_equal},
                            {"digests_copied", report.digests_copied},
                            {"initial_loss", report.initial_loss},
                            {"final_loss", report.final_loss},
                            {"bigram_loss", report.bigram_loss},
                            {"beaten", has_beaten(report)},
                            {"tokens_needed", nullptr},
                            {"worth", worth_json(report)},
                            {"computer", computer_json(report)},
                            {"contributions_per_round", report.contributions_per_round},
                            {"parameters", report.parameters},
                            {"k", report.k},
                            {"plan", report.plan},
                            {"bits_per_parameter", report.bits_per_parameter},
                            {"trained_tokens", report.trained_tokens},
                            {"credited_tokens", report.credited_tokens},
                            {"upload_bytes_per_round", report.upload_bytes_per_round},
                            {"payload_bytes_per_round", report.payload_bytes_per_round},
                            {"fp32_bytes_per_round", report.fp32_bytes_per_round},
                            {"seconds_join_to_first_step", report.seconds_join_to_first_step},
                            {"seconds", report.seconds},
                            {"round_overhead_seconds", report.round_overhead_seconds},
                            {"volunteers", report.volunteers},
                            {"late_volunteer_rounds", report.late_rounds},
                            {"killed_volunteer_rounds_after_return", report.returned_rounds},
                            {"all_in_step", report.all_in_step},
                            {"closed", report.closed},
                            {"leaderboard", places},
                            {"sample", harmless(report.sample)},
                            {"checkpoint", report.checkpoint},
                            {"folder", report.folder},
                            {"remarks", remarks_on(report)},
                            {"faults", faults_of(report)}};
    for (const JuryFound::Liar& liar : report.jury.liars)
        found["liars"].push_back({{"name", liar.name}, {"lie", liar.lie}, {"suspended", liar.suspended}});
    if (const auto needed = tokens_needed(report)) found["tokens_needed"] = *needed;
    for (const control::Figure& figure : report.figures) found["figures"].push_back(control::to_json(figure));
    for (const control::Figure& figure : report.coder_figures)
        found["coder_figures"].push_back(control::to_json(figure));
    found["collapsed"] = report.collapsed;
    return found;
}

std::string to_text(const DemoReport& report) {
    std::ostringstream out;
    out << "\nReport\n"
        << formatted("  validation loss    %.3f at the start, %.3f at the end; %s baseline %.3f%s\n",
                     report.initial_loss, report.final_loss, report.baseline.c_str(), report.bigram_loss,
                     model::is_embedder(report.model) ? " nats per picture"
                     : model::is_coder(report.model)  ? ""
                                                      : " nats per token")
        << figures_text("coder's ", report.coder_figures) << figures_text("", report.figures)
        << worth_text(report.alone, report.final_loss)
        << formatted("  rounds             %llu in %.0f s, %llu lost; overhead of the last round %.2f s\n",
                     static_cast<unsigned long long>(report.rounds), report.seconds,
                     static_cast<unsigned long long>(report.rounds_lost), report.round_overhead_seconds)
        << formatted("  digests            %llu computed and compared, %llu equal; %llu copied by who came late\n",
                     static_cast<unsigned long long>(report.digests_compared),
                     static_cast<unsigned long long>(report.digests_equal),
                     static_cast<unsigned long long>(report.digests_copied))
        << formatted("  tokens             %llu trained, %llu credited\n",
                     static_cast<unsigned long long>(report.trained_tokens),
                     static_cast<unsigned long long>(report.credited_tokens))
        << "  this computer      " << about(speed_of(report)) << " tokens/s in all, windows of "
        << formatted("%.1f s", report.window_seconds) << "; " << share_text(report.others) << "\n"
        << "  each volunteer     " << (report.plan.empty() ? "gave no plan" : report.plan) << "\n"
        << "  sent per volunteer and round: " << size_text(static_cast<std::uint64_t>(report.upload_bytes_per_round))
        << " in all, of which the contribution "
        << size_text(static_cast<std::uint64_t>(report.payload_bytes_per_round))
        << formatted(" (%.3f bit per parameter, k = %u);\n", report.bits_per_parameter, report.k)
        << "                     fp32 gradients at every step would have been "
        << size_text(static_cast<std::uint64_t>(report.fp32_bytes_per_round))
        << formatted(" (%.0f times what was sent in all)\n",
                     report.fp32_bytes_per_round / std::max(1.0, report.upload_bytes_per_round))
        << formatted("  late volunteer     trained %.1f s after it joined; %llu rounds accepted\n",
                     report.seconds_join_to_first_step, static_cast<unsigned long long>(report.late_rounds))
        << formatted("  killed volunteer   %llu rounds accepted after it came back\n",
                     static_cast<unsigned long long>(report.returned_rounds))
        << "  leaderboard\n";
    int rank = 0;
    for (const DemoReport::Place& place : report.leaderboard) {
        out << formatted("    %2d  %-24s %12llu tokens %5llu rounds\n", ++rank,
                         log::printable(place.name, name_shown).c_str(), static_cast<unsigned long long>(place.tokens),
                         static_cast<unsigned long long>(place.rounds));
    }
    for (const JuryFound::Liar& liar : report.jury.liars)
        out << formatted("  liar               %s (%s): %s\n", liar.name.c_str(), liar.lie.c_str(),
                         liar.suspended > 0
                             ? ("suspended by the list of round " + std::to_string(liar.suspended)).c_str()
                             : "not suspended");
    if (!report.sample.empty()) out << "  sample\n    " << harmless(report.sample) << "\n";
    if (!report.checkpoint.empty()) out << "  last checkpoint    " << report.checkpoint << "\n";
    for (const std::string& remark : remarks_on(report)) out << "  " << remark << "\n";
    for (const std::string& fault : faults_of(report)) out << "  WRONG: " << fault << "\n";
    return out.str();
}

std::string to_try(const DemoReport& report, const std::string& program) {
    const std::string data = " --data-dir '" + report.folder + "/volunteer-1'";
    const bool draws = model::is_drawer(report.model), embeds = model::is_embedder(report.model);
    const bool codes = model::is_coder(report.model);
    const std::string asked = draws    ? " --prompt 'a red heart' --picture heart.png"
                              : embeds ? " --picture nearest.png"
                                       : " --prompt 'The '";
    const std::string sample = codes ? "" : program + " sample" + data + asked + "\n  ";
    const char* opens = draws    ? "config.json, safetensors and the picture coder"
                        : embeds ? "config.json, safetensors and a network for torchvision"
                        : codes  ? "config.json, safetensors and how to code pictures with them"
                                 : "opens in transformers";
    return "\nThe model and the data folders are kept in " + report.folder + "\nGo on with it:\n  " + program +
           " status" + data + "\n  " + sample + program + " export" + data + " ./model   # " + opens + "\n  " +
           program + " verify ./model   # that it is what the volunteers agreed on\n";
}

}  // namespace potluck::node
