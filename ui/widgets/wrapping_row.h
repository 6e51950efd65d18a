// A row of widgets that goes on in a second line where the first is too narrow, as words do. Widgets that stretch share
// what their line leaves over; the others have the size that they ask for.
//
//   wide:    [ field that stretches        ] [Paste] [Open] [Join]
//   narrow:  [ field that stretches ]
//            [Paste] [Open] [Join]
//
// Threads: Qt's main thread. Owns: its items, as every layout.
#pragma once

#include <vector>

#include <QLayout>

namespace potluck::ui {

class WrappingRow : public QLayout {
    Q_OBJECT

public:
    /// Adds itself to nothing: the caller puts it into a layout or onto a widget.
    explicit WrappingRow(QWidget* parent = nullptr);
    ~WrappingRow() override;

    /// A widget as wide as it asks to be.
    void add(QWidget* widget);
    /// A widget, or a layout, that takes what is left, and is alone in a line rather than narrower than `least`.
    void addStretching(QWidget* widget, int least);
    void addStretching(QLayout* layout, int least);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSize() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
    void setGeometry(const QRect& rect) override;
    void addItem(QLayoutItem* item) override;
    [[nodiscard]] int count() const override { return static_cast<int>(m_items.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;

private:
    struct Item {
        QLayoutItem* item = nullptr;
        int least = 0;  // 0: it does not stretch
    };
    using Line = std::vector<const Item*>;

    [[nodiscard]] static int widthOf(const Item& item);
    [[nodiscard]] std::vector<Line> linesOf(int width) const;
    [[nodiscard]] std::vector<int> widthsIn(const Line& line, int width) const;

    std::vector<Item> m_items;
};

}  // namespace potluck::ui
