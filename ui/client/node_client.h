// The window's only way to a node. It opens a Transport, turns its lines into value snapshots, sends requests and
// reports their outcome, and opens it again with growing pauses when the node dies.
//
//   starting --first snapshot--> up --nothing for a while--> silent --something--> up
//      ^                          |                             |
//      +------ pause is over ----down <---- the node ended -----+          `stop` leads to `stopping`, then stopped()
//
// It decides nothing: what the node refuses arrives as `refused` with the node's own sentence. The curve and the
// leaderboard change when a round ends, so they are asked for again whenever run or round of the snapshot change.
//
// Threads: Qt's main thread. Owns: nothing; the transport outlives it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QString>
#include <QTimer>

#include "core/activity/signals.h"
#include "core/control/node_methods.h"
#include "ui/client/transport.h"

namespace potluck::ui {

struct Link {
    enum class State { starting, up, silent, down, stopping };
    State state = State::starting;
    QString sentence;  // what is wrong and what to do; empty while starting or up
};

/// What the run's model wrote after so many rounds.
struct Sample {
    std::uint64_t round = 0;
    QString prompt, text;
    QByteArray picture = {};    // PNG, of a model that draws or compares pictures; else empty
    std::uint32_t nearest = 0;  // of one that compares: how many stand in each row behind the one they are nearest to
};

/// A run that was looked at by its invite, and not joined by that.
struct Offer {
    enum class State { none, asked, here, failed } state = State::none;
    QString invite;
    QString problem;  // why it failed
    control::OfferedRun run;
};

/// What this computer could train on, as a trainer found it.
struct FoundDevices {
    enum class State { none, asked, here, failed } state = State::none;
    QString problem;  // why it failed
    control::DetectReply found;
};
/// known: what was found before will do.
enum class DeviceSearch { known, anew };

/// Everything that the window shows. A fresh one is what a window sees before the node has said a word.
struct NodeView {
    Link link;
    bool heard = false;  // `snapshot` came from a node, possibly before the link went down
    control::NodeSnapshot snapshot;
    control::Leaderboard leaderboard;  // of those who were asked for last (findPeople)
    std::vector<control::CurvePoint> curve;
    std::vector<control::EpisodeRow> pauses;  // oldest first
    std::optional<control::RunOptions> runOptions;
    std::optional<control::Committee> committee;      // what was asked for last of the run
    std::vector<control::CheckpointRow> checkpoints;  // oldest first; likewise
    std::vector<control::KnownRun> runs;              // what was asked for last of earlier runs
    std::vector<control::DayRow> days;                // oldest first; likewise
    std::optional<control::DiskUse> disk;             // likewise
    FoundDevices devices;                             // since the node is here
    Offer offer;                                      // what was looked at last
    std::vector<std::string> log;                     // lines of the node's log, asked for last
    std::vector<Sample> samples;                      // of this run, since the window opened; newest first
    std::optional<activity::Sights> sights;           // what this program's probes see; nothing before they looked
    bool inputDrifts = false;                         // input without a break is not taken for a person's
};

/// How long the client waits. Tests make it short.
struct Pace {
    std::chrono::milliseconds first_retry{1000};
    std::chrono::milliseconds longest_retry{30000};
    std::chrono::milliseconds silence{10000};
};

class NodeClient : public QObject {
    Q_OBJECT

public:
    explicit NodeClient(Transport& transport, Pace pace = {}, QObject* parent = nullptr);

    [[nodiscard]] const NodeView& view() const { return m_view; }
    /// True between a request and its answer: what keeps a button from being pressed twice.
    [[nodiscard]] bool waitsFor(control::Method method) const;

    void start();
    /// Ends the node, if it is ours, in an orderly way; emits stopped().
    void stop();
    /// Does not wait for the end of the pause between two attempts.
    void retryNow();

    /// For rooms that keep an answer themselves. `take` is called with the answer's fields, and not at all if the node
    /// refuses. Only for the calls that node_client.cpp instantiates.
    template <control::MethodCall Call>
    void call(const Call& call, std::function<void(const typename Call::Reply&)> take = {});
    void join(const QString& invite, control::OtherRun otherRun = control::OtherRun::keep);
    /// Has the node fetch the run's description; nothing is joined by that. An empty invite forgets what was looked at.
    void lookAtRun(const QString& invite);
    void leave();
    /// Trains to the end of the round, then leaves.
    void finishRound();
    /// From now on the leaderboard has those whose name or team holds `part`, or whose key begins with it; empty:
    /// everybody.
    void findPeople(const QString& part);
    /// Zero seconds: until `resume`.
    void pause(std::chrono::seconds duration);
    void resume();
    void setName(const QString& name);
    /// Empty: the person is in none.
    void setTeam(const QString& team);
    void checkReleases();
    void installTrainer(const QString& kind);
    /// Also ends a download that is under way.
    void removeTrainer();
    void setReleases(bool looks, bool passesOn);
    /// What is seen of the owner here; the node believes it for `lease`.
    void giveWay(const activity::Decision& decision, std::chrono::seconds lease);
    void setRules(const control::OwnerRules& rules);
    void setResources(const control::Resources& resources);
    void setProxy(const control::SetProxy& call);
    void setPort(std::uint16_t port);
    /// One look at a time; the answer is in the view.
    void requestDevices(DeviceSearch search);
    /// As a device's id says, or `any`.
    void setDevice(const std::string& device);
    /// For the window: what the probes of this program see. Nothing of it goes to the node.
    void showSights(const activity::Sights& sights, bool inputDrifts);
    void requestInvite();
    /// What a new run may be made of; once for each node.
    void requestRunOptions();
    /// One at a time; the answer is estimated().
    void estimateRun(const control::EstimateRun& question);
    void hostRun(const control::RunChoices& choices);
    void cancelHosting();
    /// Committee and checkpoints of the run, and what its host has changed.
    void requestCommittee();
    void moderate(control::ModerationKind kind, const std::string& key);
    void rollBack(std::uint64_t round);
    void replaceCommittee(const std::vector<std::string>& keys);
    /// Runs of before, what was given on which day, and the use of the disk.
    void requestRecords();
    void rejoin(const std::string& run, control::OtherRun otherRun);
    void deleteRunFiles(const std::string& run);
    void requestLog();
    /// Has the model go on with `prompt`; one at a time.
    void writeSample(const QString& prompt);
    /// The answer is modelSaved().
    void saveModel(const QString& folder);
    /// The answer, identityShown(), holds the recovery words: nothing of it is kept here.
    void requestIdentity();
    void exportIdentity(const QString& file);
    void importIdentity(const QString& file);
    void importIdentityWords(const QString& words);

signals:
    void changed();  // link or snapshot
    void curveChanged();
    void leaderboardChanged();
    void pausesChanged();
    void sightsChanged();
    void inviteReady(const QString& magnet);
    void runOptionsChanged();
    void estimated(const potluck::control::RunEstimate& estimate);
    void committeeChanged();
    void recordsChanged();
    void offerChanged();
    void devicesChanged();
    void logChanged();
    void samplesChanged();
    void modelSaved(const potluck::control::ExportedFiles& files, const QString& folder);
    void identityShown(const QString& id, const QString& words);
    void done(potluck::control::Method method);
    void refused(potluck::control::Method method, const QString& sentence);
    void stopped();

private:
    struct Pending {
        control::Method method;
        std::function<Status(const nlohmann::json&)> take;
    };

    void openWay(Transport::Way way);
    void onReceived(const QByteArray& bytes);
    void onEnded(Transport::End end, const QString& detail);
    void onSilence();
    void take(const control::Line& line);
    void takeSnapshot(const nlohmann::json& params);
    void takeReply(const control::Reply& reply);
    void send(control::Method method, const std::function<std::string(std::uint64_t id)>& line,
              std::function<Status(const nlohmann::json&)> take);
    void refreshRunTables(const control::NodeSnapshot& before);
    void askLeaderboard();
    void refreshPauses(const control::NodeSnapshot* before);
    void failLook(const QString& sentence);
    void setDevicesFound(FoundDevices devices);
    void refuseAllPending();
    void setLink(Link::State state, const QString& sentence = {});
    [[nodiscard]] QString sentenceFor(Transport::End end, const QString& detail) const;

    Transport& m_transport;
    Pace m_pace;
    NodeView m_view;
    std::string m_find;  // whom the leaderboard is asked for; empty: everybody
    Transport::Way m_way = Transport::Way::serve;
    control::LineSplitter m_splitter;
    std::map<std::uint64_t, Pending> m_pending;
    std::uint64_t m_nextId = 1;
    std::chrono::milliseconds m_retry;
    QTimer m_retryTimer;
    QTimer m_silenceTimer;
    bool m_open = false;
};

}  // namespace potluck::ui
