// A text as a QR code that a phone's camera reads from the screen: always dark on white with its quiet zone, whatever
// the look, because many readers know no other.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QString>
#include <QWidget>

namespace potluck::ui {

/// The modules of a code, row by row; no side if the text is empty or longer than a code holds (2,331 bytes).
struct QrModules {
    int side = 0;
    std::vector<bool> dark;
};
[[nodiscard]] QrModules qrModules(const QString& text);

class QrCode : public QWidget {
    Q_OBJECT

public:
    explicit QrCode(QWidget* parent);

    /// Hidden while there is no code for the text.
    void show(const QString& text);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    [[nodiscard]] int modulePixels() const;

    QString m_text;
    QrModules m_modules;
};

}  // namespace potluck::ui
