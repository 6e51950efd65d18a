#include "ui/hosting/people_list.h"

#include <algorithm>

#include <QSignalBlocker>

#include "ui/client/plain_text.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

Person& personIn(std::vector<Person>& people, const std::string& id, const std::string& name) {
    const auto found = std::ranges::find(people, id, &Person::id);
    if (found != people.end()) return *found;
    people.push_back({.id = id, .name = displayName(name, id)});
    return people.back();
}

}  // namespace

std::vector<Person> peopleOf(const control::RunSnapshot& run, const control::Committee& committee) {
    std::vector<Person> people;
    for (const control::MemberRow& member : run.members) {
        Person& person = personIn(people, member.id, member.name);
        person.here = true;
        person.self = member.self;
    }
    for (const control::SeatRow& seat : committee.seats) personIn(people, seat.id, seat.name).seated = true;
    for (const std::string& key : committee.vouched) personIn(people, key, {}).vouched = true;
    for (const std::string& key : committee.banned) personIn(people, key, {}).banned = true;
    return people;
}

PeopleList::PeopleList(QWidget* parent) : QListWidget(parent) {
    setSelectionMode(QAbstractItemView::SingleSelection);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTextElideMode(Qt::ElideRight);
    setMinimumHeight(18 * grid);
    setAccessibleName(tr("Members, seats and keys"));
    setAccessibleDescription(tr("The space bar ticks whom a new committee is to have."));
    connect(this, &QListWidget::currentRowChanged, this, &PeopleList::choiceChanged);
    connect(this, &QListWidget::itemChanged, this, &PeopleList::takeTick);
}

QString PeopleList::textOf(const Person& person) {
    QStringList facts;
    facts << (person.here ? tr("here") : tr("away"));
    if (person.seated) facts << tr("has a seat");
    if (person.vouched) facts << tr("your deputy");
    if (person.banned) facts << tr("banned");
    const QString name = person.self ? tr("%1 (you)").arg(person.name) : person.name;
    return name + QStringLiteral(" · ") + plainText(person.id, 64).left(8) + QStringLiteral(" – ") +
           facts.join(QStringLiteral(", "));
}

void PeopleList::show(const std::vector<Person>& people) {
    if (!m_ticksChanged) {
        m_ticked.clear();
        for (const Person& person : people) {
            if (person.seated) m_ticked.insert(person.id);
        }
    }
    if (people == m_people) return;
    const std::optional<Person> before = selected();
    const QSignalBlocker quiet(this);
    m_people = people;
    clear();
    for (const Person& person : m_people) {
        auto* item = new QListWidgetItem(textOf(person), this);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        item->setCheckState(m_ticked.contains(person.id) ? Qt::Checked : Qt::Unchecked);
        if (before && before->id == person.id) setCurrentItem(item);
    }
}

std::optional<Person> PeopleList::selected() const {
    const int row = currentRow();
    if (row < 0 || static_cast<std::size_t>(row) >= m_people.size()) return {};
    return m_people[static_cast<std::size_t>(row)];
}

void PeopleList::forgetTicks() {
    m_ticksChanged = false;
    m_people.clear();
}

void PeopleList::takeTick(const QListWidgetItem* item) {
    const std::string& id = m_people.at(static_cast<std::size_t>(row(item))).id;
    m_ticksChanged = true;
    if (item->checkState() == Qt::Checked) {
        m_ticked.insert(id);
    } else {
        m_ticked.erase(id);
    }
    emit choiceChanged();
}

}  // namespace potluck::ui
