#include "ui/join/first_name.h"

#include <QLineEdit>
#include <QVBoxLayout>
#include <array>

#include "ui/client/plain_text.h"
#include "ui/widgets/form_field.h"

namespace potluck::ui {

namespace {

// Not translated: everybody in a run reads the same name.
constexpr std::array manners{"Brave", "Bright", "Calm",  "Clever", "Curious", "Eager", "Gentle", "Happy",
                             "Jolly", "Kind",   "Lucky", "Merry",  "Patient", "Proud", "Quiet",  "Sunny"};
constexpr std::array things{"Kettle", "Ladle",    "Teapot", "Skillet", "Lentil",  "Pumpkin", "Radish", "Walnut",
                            "Waffle", "Dumpling", "Pepper", "Basil",   "Pretzel", "Noodle",  "Cherry", "Olive"};
static_assert(manners.size() == 16 && things.size() == 16);  // a hexadecimal digit each

int digitOf(char c) { return QString(QLatin1Char(c)).toInt(nullptr, 16); }

}  // namespace

QString suggestedName(const std::string& peer) {
    if (peer.size() < 2) return {};
    return QLatin1String(manners[static_cast<std::size_t>(digitOf(peer[0]))]) + QLatin1Char(' ') +
           QLatin1String(things[static_cast<std::size_t>(digitOf(peer[1]))]);
}

FirstName::FirstName(NodeClient& client, const char* name, Run run, QWidget* parent)
    : QWidget(parent), m_client(client), m_run(run) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_line = new QLineEdit(this);
    m_line->setObjectName(QLatin1String(name));
    m_line->setMaxLength(own_name_characters_max);
    m_field = new FormField(tr("Your na&me in the run"), m_line, this);
    column->addWidget(m_field);
    connect(&client, &NodeClient::changed, this, &FirstName::refresh);
    refresh();
}

void FirstName::refresh() {
    const NodeView& view = m_client.view();
    setVisible(view.link.state == Link::State::up && view.snapshot.name.empty());
    // A key from another computer: its person may have a name in this run.
    const bool is_back =
        m_run == Run::joined && !view.snapshot.person_id.empty() && view.snapshot.person_id != view.snapshot.peer_id;
    m_field->setHint(is_back ? tr("Leave it empty to go by the name that this run knows you by.")
                             : tr("Everybody in the run sees it. It need not be your real one; you can change it in "
                                  "Settings."));
    if (m_line->isModified()) return;
    if (is_back) {
        m_line->clear();
    } else if (m_line->text().isEmpty()) {
        m_line->setText(suggestedName(view.snapshot.peer_id));
    }
}

void FirstName::save() {
    const QString name = m_line->text().simplified();
    if (!isHidden() && !name.isEmpty()) m_client.setName(name);
}

}  // namespace potluck::ui
