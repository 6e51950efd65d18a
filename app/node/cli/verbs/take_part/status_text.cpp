// One function for each line, each from the part of the snapshot that it is about; a line of which nothing is known is
// left out, or says so where a person would look for it (power, temperature).
//
// Names and sentences that come from other members pass through printable() or clean() before they reach a terminal: a
// control character in them must not command it.
#include "app/node/cli/verbs/take_part/status_text.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "app/node/cli/complain.h"
#include "app/node/cli/news_text.h"
#include "app/node/member/view.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/model/model_spec.h"
#include "core/status/states.h"

namespace potluck::node {

namespace {

constexpr std::size_t obstacle_shown = 400;
/// What helps is what its authors advise (Caron et al. 2020, README of the published code, "common issues").
constexpr const char* collapsed_text =
    "collapsed: all pictures look alike to the model; if that stays so for some rounds, the host had better begin a "
    "new "
    "run with more pictures, fewer --prototypes or a lower --learning-rate\n";

/// "members: 5", or "members: 5, 2 of them through others"; of a large run "…, 40 known from the last round only".
std::string members_of(const control::RunSnapshot& run) {
    const auto through_others = std::count_if(run.members.begin(), run.members.end(),
                                              [](const auto& one) { return !one.self && !one.connected; });
    std::string all = "members: " + std::to_string(run.members_in_all());
    if (through_others > 0) all += ", " + std::to_string(through_others) + " of them through others";
    const std::uint64_t beyond = run.findings.members_beyond;
    return beyond == 0 ? all : all + ", " + std::to_string(beyond) + " known from the last round only";
}

/// What was measured with the validation loss: "orders predicted 75 %, ".
std::string measures_of(const control::RunSnapshot& run) {
    std::string all;
    for (const control::Figure& figure : run.figures) all += control::figure_text(figure) + ", ";
    return all;
}

std::string line_of(const control::RunSnapshot& run) {
    char text[256];
    char training[48] = "no training loss yet";
    char validation[64] = "not measured yet";
    if (run.loss > 0) std::snprintf(training, sizeof training, "training loss %.3f", run.loss);
    if (run.validation_loss > 0) {
        std::snprintf(validation, sizeof validation, "%.3f of round %llu", run.validation_loss,
                      static_cast<unsigned long long>(run.validation_round));
    }
    std::snprintf(text, sizeof text, "round %llu of %llu, %s, validation loss %s (%s %.3f), ",
                  static_cast<unsigned long long>(run.round), static_cast<unsigned long long>(run.total_rounds),
                  training, validation, model::title_of(run.baseline), run.bigram_loss);
    return text + measures_of(run) + std::to_string(run.swarm_tokens_per_second) + " tokens/s, " + members_of(run);
}

/// Whether it adds up what all have sent, and if not, why.
std::string sums_of(const control::RunSnapshot& run) {
    const control::Exchange& exchange = run.exchange;
    if (exchange.sum_signers > 0) {
        return "takes the sum from " + std::to_string(exchange.sum_signers) +
               " others, because all contributions are more than this line carries";
    }
    if (exchange.offers == 0) return "adds up all contributions";
    return "adds up " + std::to_string(exchange.offers_in_time) + " of " + std::to_string(exchange.offers) +
           " contributions, as many as this line carries in time; a backbone with a faster line would carry more";
}

std::string density_of(const control::RunSnapshot& run) {
    const std::string sent = std::to_string(run.exchange.density) + " of every 4096 values are sent";
    if (run.exchange.density >= run.exchange.density_allowed) return sent;
    return sent + " instead of " + std::to_string(run.exchange.density_allowed) +
           ", because contributions of this computer came too late; a higher upload limit may help";
}

/// The verbs that lead out of a state: "resume, leave".
std::string verbs_of(const status::Actions& actions) {
    using enum status::Action;
    constexpr std::pair<status::Action, const char*> verbs[] = {
        {join, "join INVITE"},   {get_trainer, "trainer install"},
        {try_again, "resume"},   {resume, "resume"},
        {train_again, "resume"}, {pause, "pause"},
        {finish, "finish"},      {cancel, "leave"},
        {leave, "leave"}};
    std::string text;
    for (const auto& [action, verb] : verbs) {
        if (actions.has(action)) text += (text.empty() ? "" : ", ") + std::string(verb);
    }
    return text;
}

/// A line on how others get here, and what helps where they do not; nothing where it is too early to tell.
std::string inbound_text(const control::NetworkSnapshot& network) {
    const std::string port = std::to_string(network.port);
    switch (network.inbound) {
        case control::Inbound::reached: return "reached: others open connections to this computer\n";
        case control::Inbound::mapped:
            return "reached: the router has opened a port for this computer (" + log::printable(network.router) + ")\n";
        case control::Inbound::shut:
            return "reached: only by members that this computer connects to or is introduced to; switch UPnP or "
                   "NAT-PMP "
                   "on in the router, or let it pass port " +
                   port + " (TCP and UDP) on to this computer, and give the same port with --port\n";
        case control::Inbound::unknown: break;
    }
    return {};
}

std::string traffic_text(const control::Traffic& traffic) {
    const auto of = [](const char* when, std::uint64_t up, std::uint64_t down) {
        char text[96];
        std::snprintf(text, sizeof text, "%s %.1f MB up, %.1f MB down", when, static_cast<double>(up) / 1e6,
                      static_cast<double>(down) / 1e6);
        return std::string(text);
    };
    return of("traffic: today", traffic.today_up, traffic.today_down) +
           of("; this month", traffic.month_up, traffic.month_down) +
           of("; in all", traffic.total_up, traffic.total_down) + "\n";
}

/// What is to train, why something else does where that is so, and what trains if that is more than one device.
std::string device_text(const control::DeviceChoice& device, const control::TrainerSnapshot& trainer) {
    std::string text = "chosen device: " + (device.chosen.empty() ? "any" : log::printable(device.chosen));
    if (!device.chosen.empty() && !device.obstacle.empty())
        text += "; another trains meanwhile: " + log::printable(device.obstacle, obstacle_shown);
    text += "\n";
    if (trainer.devices.size() > 1)
        text += "training devices: " + log::printable(control::choice_of(trainer.devices)) + "\n";
    for (const control::DeviceLeftOut& row : trainer.left_out) {
        text += log::printable(row.id) + " does not train: " + log::printable(row.reason, obstacle_shown) + "\n";
    }
    return text;
}

/// What the device draws and how warm it is; what cannot be read is said.
std::string sensors_text(const control::TrainerSnapshot& trainer) {
    if (trainer.tokens_per_second <= 0) return {};
    char text[160];
    std::string line = "device: ";
    std::snprintf(text, sizeof text, "%.0f W", trainer.watts.value_or(0));
    line += trainer.watts ? text : "power cannot be read here";
    std::snprintf(text, sizeof text, ", %.0f °C", trainer.celsius.value_or(0));
    line += trainer.celsius ? text : ", temperature cannot be read here";
    if (trainer.resident > 0) line += ", " + std::to_string(trainer.resident / 1'000'000) + " MB of memory in use";
    return line + "\n";
}

/// Seconds in which the power could not be read are taken to be like the others.
std::string energy_text(const control::Energy& energy) {
    const auto of = [](const char* when, const control::EnergySpan& span) {
        char text[128];
        const double hours = span.trained_seconds / 3600;
        if (span.measured_seconds <= 0) {
            std::snprintf(text, sizeof text, "%s %.1f h", when, hours);
            return std::string(text);
        }
        const double joules = span.joules * span.trained_seconds / span.measured_seconds;
        std::snprintf(text, sizeof text, "%s %.1f h, about %.2f kWh", when, hours, joules / 3.6e6);
        return std::string(text);
    };
    const bool measured = energy.total.measured_seconds > 0;
    return of("trained here: today", energy.today) + of("; this month", energy.month) + of("; in all", energy.total) +
           (measured ? "\n" : "; its energy is not measurable here\n");
}

/// A line on the proxy, if there is one.
std::string proxy_text(const control::ProxyState& proxy) {
    if (proxy.kind == control::ProxyKind::none) return {};
    const std::string which = std::string("proxy: ") + name_of(proxy.kind) + " " + log::printable(proxy.host) +
                              " port " + std::to_string(proxy.port);
    switch (proxy.answer) {
        case control::ProxyAnswer::unknown: return which + ", not asked yet\n";
        case control::ProxyAnswer::yes: return which + ", answers\n";
        case control::ProxyAnswer::silent: return which + ", does not answer; start it, or name another with --proxy\n";
        case control::ProxyAnswer::refuses:
            return which + ", refuses this name and password; give the right ones with --proxy\n";
        case control::ProxyAnswer::stranger: break;
    }
    return which + ", is no proxy of this kind; check its port, or name another with --proxy\n";
}

/// Who is shut out, what was measured here, and whether this computer's own work helps, where that was measured.
std::string jury_text(const control::Jury& jury) {
    std::string text = "jury: " + std::to_string(jury.suspended.size()) + " suspended, " +
                       std::to_string(jury.measured) + " contributions measured here";
    if (jury.own && jury.own->median > 0) {
        text += formatted("; your own %s: loss lowered by %.4f nats a token, others' by %.4f",
                          jury.helps ? "help" : "do not help the model", jury.own->own, jury.own->median);
    }
    if (jury.against > 0) text += "; " + std::to_string(jury.against) + " of its seats accuse you";
    return text + "\n";
}

}  // namespace

void print_status(const control::NodeSnapshot& node) {
    std::cout << name_of(node.activity) << ": " << clean(node.reason) << "\n"
              << "you can: " << verbs_of(status::row_of(node.why.reason).actions) << "\n";
    if (node.releases && node.releases->newer) std::cout << news_text(*node.releases->newer);
    if (node.run) {
        std::cout << "run: " << log::printable(node.run->name) << ", " << clean(node.run->model) << "\n"
                  << "     " << line_of(*node.run) << "\n"
                  << (node.run->collapsed ? collapsed_text : "") << "my tokens: " << node.run->my_tokens << " in "
                  << node.run->my_rounds << " rounds, today " << node.run->my_tokens_today << "\n";
        if (node.run->exchange.density > 0) std::cout << "density: " << density_of(*node.run) << "\n";
        std::cout << "sums: " << sums_of(*node.run) << "\n";
        if (node.run->findings.jury) std::cout << jury_text(*node.run->findings.jury);
    }
    if (node.activity != control::Activity::not_running) {
        std::cout << "network: port " << node.network.port << ", " << node.network.peers << " peers, "
                  << node.network.bytes_up / 1000 << " kB up, " << node.network.bytes_down / 1000 << " kB down\n"
                  << traffic_text(node.network.traffic) << inbound_text(node.network)
                  << (node.proxy ? proxy_text(*node.proxy) : "") << "trainer: " << name_of(node.trainer.state)
                  << (node.trainer.device.empty() ? "" : ", " + log::printable(node.trainer.device)) << "\n"
                  << (node.device ? device_text(*node.device, node.trainer) : "") << sensors_text(node.trainer)
                  << (node.energy ? energy_text(*node.energy) : "");
    }
    std::cout << "data: " << clean_lines(node.data_folder) << std::endl;
}

}  // namespace potluck::node
