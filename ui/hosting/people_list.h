// Everybody whom a run's host may decide about: members that are here, seats, keys that were banned or vouched for. One
// is selected for banning and the like; ticks choose a new committee. Rows come anew with each snapshot: selection and
// ticks stay with their keys.
//
// Threads: Qt's main thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <QListWidget>

#include "ui/client/node_client.h"

namespace potluck::ui {

struct Person {
    std::string id;
    QString name;  // as it is shown
    bool self = false, here = false, seated = false, banned = false, vouched = false;
    bool operator==(const Person&) const = default;
};

/// Members first, in their order; then who is not here.
[[nodiscard]] std::vector<Person> peopleOf(const control::RunSnapshot& run, const control::Committee& committee);

class PeopleList : public QListWidget {
    Q_OBJECT

public:
    explicit PeopleList(QWidget* parent);

    void show(const std::vector<Person>& people);
    [[nodiscard]] std::optional<Person> selected() const;
    /// The seats until a tick is changed.
    [[nodiscard]] const std::set<std::string>& ticked() const { return m_ticked; }
    void forgetTicks();

signals:
    void choiceChanged();

private:
    void takeTick(const QListWidgetItem* item);
    [[nodiscard]] static QString textOf(const Person& person);

    std::vector<Person> m_people;
    std::set<std::string> m_ticked;
    bool m_ticksChanged = false;
};

}  // namespace potluck::ui
