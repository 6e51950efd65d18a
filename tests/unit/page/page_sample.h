// A page's facts as a busy run has them, in which everybody has chosen the worst name there is.
#pragma once

#include <string>

#include "app/node/page/page_html.h"
#include "tests/unit/run_samples.h"

namespace potluck::test {

inline const std::string hostile_name = "</bdi></td><script>document.title='broken'</script>\"'&\xe2\x80\xae";

inline node::PageFacts page_facts() {
    node::PageFacts facts;
    facts.now = 1'764'000'000;
    facts.every = 60;
    facts.manifest = run::samples::manifest();
    facts.status.activity = control::Activity::training;
    facts.status.data_folder = "/home/anna/secret-folder";
    control::RunSnapshot run;
    run.id = std::string(64, 'a');
    run.name = hostile_name;
    run.purpose = "<img src=x onerror=alert(1)>\nTwo lines.";
    run.licence = "CC0-1.0";
    run.model = "GPT-2 shape";
    run.magnet = "magnet:?xt=urn:btmh:1220" + std::string(64, 'b') + "&dn=Test\"><script>";
    run.round = 12;
    run.total_rounds = 40;
    run.loss = 2.5;
    run.bigram_loss = 2.6;
    run.accepted_tokens = 1'234'567;
    run.swarm_tokens_per_second = 4'321;
    for (const char* name : {"anna", "", "backbone"}) {
        control::MemberRow member;
        member.name = name;
        member.role = member.name == "backbone" ? run::Role::backbone : run::Role::volunteer;
        member.tokens_per_second = member.name == "anna" ? 4'321 : 0;
        member.loss = 2.5;
        run.members.push_back(member);
    }
    run.members[1].name = hostile_name;
    facts.status.run = run;
    for (std::uint64_t round = 0; round < 12; ++round)
        facts.curve.push_back({round, 5.0 - 0.2 * static_cast<double>(round), 0, round % 4 == 0 ? 5.1 : 0});
    facts.leaders = {{1, std::string(64, 'c'), "anna", 1'000'000, 12, 0.81, false},
                     {2, std::string(64, 'd'), hostile_name, 234'567, 7, 0.19, false}};
    facts.checkpoints = {
        {10, "magnet:?xt=urn:btih:" + std::string(40, 'e') + "&xt=urn:btmh:1220" + std::string(64, 'f'),
         "/home/anna/secret-folder/10.safetensors", std::string(64, '9'), 1'800'192},
        {11, "javascript:alert(1)", "", std::string(64, '8'), 1'800'192}};
    facts.proofs = {10};
    facts.samples = {{4, 1'763'990'000, "The ", "xxxx"}, {12, 1'763'999'000, "The ", "end</pre><script>"}};
    return facts;
}

}  // namespace potluck::test
