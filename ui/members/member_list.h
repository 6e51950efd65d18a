// Who takes part in the run at the moment: a model over the snapshot's members and the delegate that paints a row with
// name, role, phase and speed. Each row is a computer, and says whose if its key is not a person's own. Rows are told
// apart by text, the person's own row by the word "you" as well as by weight.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QAbstractListModel>
#include <QStyledItemDelegate>

#include "core/control/node_protocol.h"

namespace potluck::ui {

class MemberModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role { name_role = Qt::UserRole + 1, detail_role, speed_role, self_role, backbone_role };

    using QAbstractListModel::QAbstractListModel;

    /// Rows that stay in place are changed, not replaced: the selection and the scroll position live on.
    void show(std::vector<control::MemberRow> members);
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

private:
    [[nodiscard]] QString detailText(const control::MemberRow& member) const;

    std::vector<control::MemberRow> m_members;
    std::string m_ownPerson;
};

class MemberDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace potluck::ui
