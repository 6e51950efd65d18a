// One sentence, a bar while something is under way, and a button for each trainer that this computer can use.
//
// The buttons are made anew only when the packs are others, so that a snapshot which arrives every second takes the
// focus from nobody. What a pack is called comes from a signed index, and still is plain text. What the node refuses is
// told as it says it, and stays until something else is under way.
#include "ui/pages/trainer_card.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QProgressBar>

#include "ui/client/plain_text.h"
#include "ui/client/trainer_words.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::ReleaseStage;
using control::ReleaseState;

namespace {

constexpr int progress_steps = 1000;
constexpr int sentence_max = 600;

QString nameOf(const control::PackRow& pack) {
    if (pack.kind == "cuda") return TrainerCard::tr("for NVIDIA");
    if (pack.kind == "rocm") return TrainerCard::tr("for AMD");
    return TrainerCard::tr("for the processor");
}

QString stateText(const control::NodeSnapshot& node) {
    const ReleaseState state = node.releases.value_or(ReleaseState{});
    switch (state.stage) {
        case ReleaseStage::checking: return TrainerCard::tr("Asking which downloads there are.");
        case ReleaseStage::downloading:
            return TrainerCard::tr("The part that trains is being downloaded; it goes on after a break.");
        case ReleaseStage::unpacking: return TrainerCard::tr("The part that trains is being checked and unpacked.");
        case ReleaseStage::none: break;
    }
    if (!state.installed.empty()) return TrainerCard::tr("The part that trains was downloaded and is ready.");
    if (state.has_trainer) return TrainerCard::tr("The part that trains is installed on this computer.");
    return noTrainerText(node);
}

}  // namespace

TrainerCard::TrainerCard(NodeClient& client, CardPlace place, QWidget* parent)
    : QFrame(parent), m_client(client), m_place(place) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("The part that trains"), "heading", this));
    m_state = makeWrappedLabel({}, "muted", this);
    m_state->setObjectName(QStringLiteral("trainerState"));
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("trainerProblem"));
    m_progress = new QProgressBar(this);
    m_progress->setObjectName(QStringLiteral("trainerProgress"));
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the download"));
    m_packs = new QHBoxLayout;
    m_look = makeButton(tr("Look for downloads"), {}, Emphasis::primary, this);
    m_look->setObjectName(QStringLiteral("lookForTrainers"));
    m_cancel = makeButton(tr("Cancel"), iconNamed(QStringLiteral("leave")), Emphasis::normal, this);
    m_cancel->setObjectName(QStringLiteral("cancelTrainer"));
    m_remove = makeButton(tr("Remove it"), {}, Emphasis::normal, this);
    m_remove->setObjectName(QStringLiteral("removeTrainer"));
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addLayout(m_packs);
    for (QPushButton* button : {m_look, m_cancel, m_remove}) row->addWidget(button);
    row->addStretch(1);
    m_passOn = new QCheckBox(tr("Pass it on to other volunteers"), this);
    m_passOn->setToolTip(tr("Within the limits of upload and disk."));
    m_passOn->setObjectName(QStringLiteral("passOn"));
    m_passOn->setVisible(place == CardPlace::settings);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_state), static_cast<QWidget*>(m_problem), static_cast<QWidget*>(m_progress)})
        column->addWidget(widget);
    column->addLayout(row);
    column->addWidget(m_passOn);
    connect(m_look, &QPushButton::clicked, &client, &NodeClient::checkReleases);
    connect(m_cancel, &QPushButton::clicked, &client, &NodeClient::removeTrainer);
    connect(m_remove, &QPushButton::clicked, &client, &NodeClient::removeTrainer);
    connect(m_passOn, &QCheckBox::clicked, this, [this](bool on) {
        const auto& releases = m_client.view().snapshot.releases;
        m_client.setReleases(releases && releases->looks, on);
    });
    connect(&client, &NodeClient::refused, this, [this](control::Method method, const QString& sentence) {
        using namespace control;
        if (method == method_of<CheckReleases> || method == method_of<InstallTrainer> ||
            method == method_of<RemoveTrainer>)
            showOrHide(m_problem, sentence);
    });
    connect(&client, &NodeClient::changed, this, &TrainerCard::refresh);
    refresh();
}

void TrainerCard::showPacks(const ReleaseState& state) {
    const bool offers = state.stage == ReleaseStage::none && !state.has_trainer;
    QStringList wanted;
    for (const control::PackRow& pack : state.packs) {
        if (offers) wanted << tr("Download %1 (%2)").arg(nameOf(pack), sizeText(pack.bytes));
    }
    if (wanted == m_shown) return;
    m_shown = wanted;
    while (QLayoutItem* item = m_packs->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    for (qsizetype i = 0; i < wanted.size(); ++i) {
        const control::PackRow& pack = state.packs[static_cast<std::size_t>(i)];
        QPushButton* button = makeButton(wanted[i], {}, i == 0 ? Emphasis::primary : Emphasis::normal, this);
        button->setObjectName(QStringLiteral("download-") + plainText(pack.kind, sentence_max));
        button->setToolTip(literalText(tr("Takes %1 on the disk.").arg(sizeText(pack.unpacked))));
        m_packs->addWidget(button);
        connect(button, &QPushButton::clicked, this,
                [this, kind = QString::fromStdString(pack.kind)] { m_client.installTrainer(kind); });
    }
}

void TrainerCard::refresh() {
    const NodeView& view = m_client.view();
    const ReleaseState state = view.snapshot.releases.value_or(ReleaseState{});
    const bool known = view.link.state == Link::State::up && view.snapshot.releases.has_value();
    const bool idle = state.stage == ReleaseStage::none;
    // In a run its state says what is missing; here is only what can be done about it.
    const bool told = m_place == CardPlace::home && idle && view.snapshot.why.reason == status::Reason::trainer_missing;
    const bool wanted = known && (!state.has_trainer || !idle) && (!told || state.has_key);
    setVisible(m_place == CardPlace::settings || wanted);
    showOrHide(m_state, told ? QString() : stateText(view.snapshot));
    if (!idle || !state.error.empty()) showOrHide(m_problem, plainText(state.error, sentence_max));
    if (m_problem->text().isEmpty()) m_problem->hide();
    m_progress->setVisible(!idle);
    m_progress->setRange(0, state.progress < 0 ? 0 : progress_steps);
    m_progress->setValue(static_cast<int>(state.progress * progress_steps));
    showPacks(state);
    m_look->setVisible(idle && state.has_key && !state.has_trainer && state.packs.empty());
    m_look->setEnabled(known && !m_client.waitsFor(control::method_of<control::CheckReleases>));
    m_cancel->setVisible(state.stage == ReleaseStage::downloading);
    m_remove->setVisible(m_place == CardPlace::settings && idle && !state.installed.empty());
    m_passOn->setChecked(state.passes_on);
    m_passOn->setEnabled(known);
}

}  // namespace potluck::ui
