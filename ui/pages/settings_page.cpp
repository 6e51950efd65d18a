// Cards in sections in a scroll area, so that the page works on a small screen and with large text. What belongs to the
// node is shown from its snapshot and changed by a request: the name counts as saved when the node says so, and not
// when the button is pressed.
//
// A snapshot arrives every second, so it must not overwrite what a person is typing: the field is left alone while it
// has the focus or unsaved changes. Only the look is the window's own; Theme applies it. The data folder is shown for
// copying and opened by the desktop, not by us.
#include "ui/pages/settings_page.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QRadioButton>
#include <QScrollArea>
#include <QScrollBar>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/pages/activity_card.h"
#include "ui/pages/identity_card.h"
#include "ui/pages/pause_menu.h"
#include "ui/pages/trainer_card.h"
#include "ui/pages/update_card.h"
#include "ui/records/pauses_card.h"
#include "ui/records/team_card.h"
#include "ui/resources/about_card.h"
#include "ui/resources/card_search.h"
#include "ui/resources/computer_card.h"
#include "ui/resources/connection_card.h"
#include "ui/resources/device_card.h"
#include "ui/resources/programs_card.h"
#include "ui/resources/proxy_card.h"
#include "ui/resources/resources_card.h"
#include "ui/resources/traffic_card.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int folder_width_min = 20 * grid;

}  // namespace

SettingsPage::SettingsPage(NodeClient& client, Theme& theme, const Desktop& desktop, QWidget* parent)
    : QWidget(parent), m_client(client), m_theme(theme) {
    const auto [scroll, scrolled, cards] = makeScrolledCards(this);
    m_scroll = scroll;
    m_scroll->setObjectName(QStringLiteral("settingsScroll"));
    m_cards = cards;
    // Before the cards, so that the Tab key comes to them first, as the eye does.
    m_search = new CardSearch(this);
    auto* sections = new WrappingRow;
    sections->setSpacing(grid);
    QPushButton* you = makeJump(tr("You"), "you");
    QPushButton* training = makeJump(tr("Training"), "training");
    QPushButton* network = makeJump(tr("Network"), "network");
    QPushButton* program = makeJump(tr("Program"), "program");
    for (QPushButton* jump : {you, training, network, program}) sections->add(jump);
    addSection(*you, {makeNameCard(), new TeamCard(client, scrolled), new IdentityCard(client, scrolled)});
    addSection(*training, {makePauseCard(), m_resources = new ResourcesCard(client, scrolled),
                           new DeviceCard(client, scrolled), new ActivityCard(client, scrolled),
                           new PausesCard(client, scrolled), new ComputerCard(client, scrolled)});
    addSection(*network, {new ConnectionCard(client, scrolled), m_proxy = new ProxyCard(client, scrolled),
                          new TrafficCard(client, desktop, scrolled)});
    addSection(*program,
               {makeLookCard(desktop), desktop.set_autostart ? makeStartCard(desktop) : nullptr,
                new TrainerCard(client, CardPlace::settings, scrolled),
                new UpdateCard(client, desktop, CardPlace::settings, scrolled),
                new ProgramsCard(client, desktop, scrolled), makeDataCard(desktop), new AboutCard(desktop, scrolled)});
    auto* nothing = makeWrappedLabel(tr("No setting has these words."), "muted", this);
    m_search->setNothingFound(nothing);
    cards->addWidget(nothing);
    cards->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    auto* top = new QHBoxLayout;
    top->setSpacing(2 * grid);
    top->addWidget(makeLabel(tr("Settings"), "title", this));
    top->addStretch(1);
    top->addWidget(m_search, 1);
    column->addLayout(top);
    column->addLayout(sections);
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::changed, this, &SettingsPage::refresh);
    refresh();
}

QPushButton* SettingsPage::makeJump(const QString& section, const char* name) {
    QPushButton* jump = makeButton(section, {}, Emphasis::quiet, this);
    jump->setObjectName(QStringLiteral("to-") + QLatin1String(name));
    jump->setAccessibleDescription(tr("Scrolls to this part of the settings."));
    return jump;
}

void SettingsPage::addSection(const QPushButton& jump, std::initializer_list<QWidget*> cards) {
    auto* heading = makeLabel(jump.text(), "title", this);
    m_cards->addWidget(heading);
    std::vector<QWidget*> shown(cards);
    std::erase(shown, nullptr);
    for (QWidget* card : shown) m_cards->addWidget(card);
    m_search->add(heading, std::move(shown));
    connect(&jump, &QPushButton::clicked, this, [this, heading] {
        m_search->clear();
        m_cards->activate();
        m_scroll->verticalScrollBar()->setValue(heading->y());
    });
}

void SettingsPage::showDiskLimit() {
    m_search->clear();
    m_resources->editDisk();
    bringUp(m_resources);
}

void SettingsPage::showProxy() {
    m_search->clear();
    m_proxy->edit();
    bringUp(m_proxy);
}

/// Where a card is, is known once the page that was just opened has its size.
void SettingsPage::bringUp(QWidget* card) {
    QMetaObject::invokeMethod(
        this, [this, card] { m_scroll->ensureWidgetVisible(card, 0, 0); }, Qt::QueuedConnection);
}

QFrame* SettingsPage::makeNameCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* label = makeLabel(tr("&Name"), "heading", card);
    m_name = new QLineEdit(card);
    m_name->setObjectName(QStringLiteral("name"));
    m_name->setMaxLength(own_name_characters_max);
    m_name->setPlaceholderText(tr("Your name on the leaderboard"));
    m_name->setAccessibleName(tr("Name on the leaderboard"));
    label->setBuddy(m_name);
    m_saveName = makeButton(tr("&Save"), {}, Emphasis::normal, card);
    m_saveName->setObjectName(QStringLiteral("saveName"));
    m_nameOutcome = makeWrappedLabel({}, "good", card);
    m_nameOutcome->hide();
    auto* row = new QHBoxLayout;
    row->addWidget(m_name, 1);
    row->addWidget(m_saveName);
    column->addWidget(label);
    column->addWidget(
        makeWrappedLabel(tr("Everybody in the run sees it. It need not be your real one."), "muted", card));
    column->addLayout(row);
    column->addWidget(m_nameOutcome);
    connect(m_saveName, &QPushButton::clicked, this, &SettingsPage::saveName);
    connect(m_name, &QLineEdit::returnPressed, this, &SettingsPage::saveName);
    connect(m_name, &QLineEdit::textEdited, this, [this] { showOrHide(m_nameOutcome, {}); });
    connect(&m_client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<SetName>) return;
        m_name->setModified(false);
        setRole(m_nameOutcome, "good");
        showOrHide(m_nameOutcome, tr("Saved."));
    });
    connect(&m_client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetName>) return;
        setRole(m_nameOutcome, "problem");
        showOrHide(m_nameOutcome, sentence);
    });
    return card;
}

QFrame* SettingsPage::makePauseCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* row = new QHBoxLayout;
    auto* words = new QVBoxLayout;
    words->setSpacing(grid / 2);
    words->addWidget(makeLabel(tr("Pause"), "heading", card));
    m_pause = makeWrappedLabel({}, "muted", card);
    words->addWidget(m_pause);
    auto* button = new PauseButton(m_client, card);
    button->setObjectName(QStringLiteral("pauseInSettings"));
    row->addLayout(words, 1);
    row->addWidget(button);
    column->addLayout(row);
    return card;
}

QFrame* SettingsPage::makeLookCard(const Desktop& desktop) {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("Look"), "heading", card));
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    auto* group = new QButtonGroup(card);
    const std::pair<Look, QString> looks[] = {
        {Look::system, tr("Follow s&ystem")}, {Look::light, tr("&Light")}, {Look::dark, tr("&Dark")}};
    for (const auto& [look, text] : looks) {
        auto* button = new QRadioButton(text, card);
        button->setObjectName(QStringLiteral("look-") + nameOf(look));
        button->setChecked(look == m_theme.choice());
        group->addButton(button);
        row->addWidget(button);
        connect(button, &QRadioButton::clicked, this, [this, chosen = look] { m_theme.choose(chosen); });
    }
    row->addStretch(1);
    column->addLayout(row);
    if (desktop.set_language) addLanguages(*column, desktop);
    return card;
}

void SettingsPage::addLanguages(QBoxLayout& column, const Desktop& desktop) {
    auto* languages = new QComboBox(this);
    languages->setObjectName(QStringLiteral("language"));
    languages->setAccessibleName(tr("Language"));
    languages->addItem(tr("Like the system's"), QString());
    // Each in its own words, so that a person who cannot read the window finds theirs.
    languages->addItem(QStringLiteral("English"), QStringLiteral("en"));
    languages->addItem(QStringLiteral("Deutsch"), QStringLiteral("de"));
    languages->setCurrentIndex(std::max(0, languages->findData(desktop.language())));
    auto* field = new FormField(tr("Lan&guage"), languages, this);
    column.addWidget(field);
    connect(languages, &QComboBox::activated, this, [languages, field, &desktop] {
        desktop.set_language(languages->currentData().toString());
        field->setHint(tr("It is spoken when Potluck is started again."));
    });
}

QFrame* SettingsPage::makeStartCard(const Desktop& desktop) {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("Start"), "heading", card));
    auto* box = new QCheckBox(tr("Start &with the session, in the tray"), card);
    box->setObjectName(QStringLiteral("autostart"));
    box->setChecked(desktop.autostart() == Autostart::on);
    auto* outcome = makeWrappedLabel({}, "problem", card);
    outcome->hide();
    column->addWidget(box);
    column->addWidget(outcome);
    connect(box, &QCheckBox::clicked, this, [box, outcome, &desktop](bool on) {
        const Status set = desktop.set_autostart(on ? Autostart::on : Autostart::off);
        showOrHide(outcome, set ? QString() : QString::fromStdString(set.error().message));
        box->setChecked(desktop.autostart() == Autostart::on);
    });
    return card;
}

QFrame* SettingsPage::makeDataCard(const Desktop& desktop) {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("On this computer"), "heading", card));
    m_device = makeWrappedLabel({}, "muted", card);
    column->addWidget(m_device);
    auto* row = new WrappingRow;
    row->setSpacing(grid);
    m_folder = makeLabel({}, "muted", card);
    m_folder->setObjectName(QStringLiteral("folder"));
    m_folder->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_folder->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto* open = makeButton(tr("Open data &folder"), iconNamed(QStringLiteral("open")), Emphasis::normal, card);
    open->setObjectName(QStringLiteral("openFolder"));
    row->addStretching(m_folder, folder_width_min);
    auto* log = makeButton(tr("Show &log"), {}, Emphasis::normal, card);
    log->setObjectName(QStringLiteral("openLog"));
    connect(log, &QPushButton::clicked, this, [&desktop] { desktop.show_log(); });
    auto* quit = makeButton(tr("&Quit Potluck"), {}, Emphasis::normal, card);
    quit->setObjectName(QStringLiteral("quit"));
    for (QPushButton* button : {open, log, quit}) row->add(button);
    column->addLayout(row);
    connect(open, &QPushButton::clicked, this,
            [this, &desktop] { desktop.open_folder(QString::fromStdString(m_client.view().snapshot.data_folder)); });
    connect(quit, &QPushButton::clicked, this, &SettingsPage::quitAsked);
    return card;
}

void SettingsPage::saveName() {
    if (m_saveName->isEnabled()) m_client.setName(m_name->text().simplified());
}

void SettingsPage::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    // What the person is typing is not overwritten by the snapshot that arrives every second.
    if (!m_name->isModified() && !m_name->hasFocus())
        m_name->setText(plainText(view.snapshot.name, own_name_characters_max));
    m_saveName->setEnabled(up && !m_client.waitsFor(method_of<SetName>));
    const StatusSummary summary = summarize(view);
    m_pause->setText(!summary.memory.isEmpty() ? summary.title + QStringLiteral(". ") + summary.memory
                                               : tr("Ends training and frees its memory at once."));
    m_folder->setText(plainText(view.snapshot.data_folder, 300));
    m_folder->setToolTip(literalText(m_folder->text()));
    const QString device = plainText(view.snapshot.trainer.device, 120);
    m_device->setText(device.isEmpty() ? tr("Nothing is trained at the moment.") : tr("Trains on: %1").arg(device));
}

}  // namespace potluck::ui
