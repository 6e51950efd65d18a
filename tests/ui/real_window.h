// A whole window over a real node that it starts as its child, as the desktop app does, and short ways to what it
// shows.
//
// Does not: open files, folders or links of the desktop.
// Threads: Qt's main thread. Owns: window, client and, through the transport, the node, which ends with it in order.
#pragma once

#include <functional>
#include <utility>

#include <QAbstractButton>
#include <QApplication>
#include <QMessageBox>
#include <QSignalSpy>
#include <QtTest>

#include "ui/client/process_transport.h"
#include "ui/pages/main_window.h"
#include "ui/pages/tray.h"
#include "ui/widgets/theme.h"

namespace potluck::test {

class RealWindow {
public:
    /// `node`: the program; it finds this process's environment of now. `shipped_text`: as in ui::Desktop.
    RealWindow(const QString& node, const QString& folder, std::function<Result<QString>()> shipped_text = {})
        : m_transport(node, folder), m_shipped_text(std::move(shipped_text)) {
        window.show();
        client.start();
    }
    RealWindow(const RealWindow&) = delete;
    RealWindow& operator=(const RealWindow&) = delete;
    ~RealWindow() { stop(); }

    /// Ends the node; nothing the second time.
    void stop() {
        if (std::exchange(m_is_stopped, true)) return;
        QSignalSpy stopped(&client, &ui::NodeClient::stopped);
        client.stop();
        stopped.wait(20'000);
    }

    [[nodiscard]] const control::NodeSnapshot& node() const { return client.view().snapshot; }
    [[nodiscard]] bool isUp() const { return client.view().link.state == ui::Link::State::up; }
    [[nodiscard]] bool is(status::Reason reason) const { return isUp() && node().why.reason == reason; }

    /// The visible widget of that name; null if there is none.
    template <class Widget>
    [[nodiscard]] Widget* find(const char* name) const {
        for (Widget* widget : window.findChildren<Widget*>(QString::fromLatin1(name)))
            if (widget->isVisible()) return widget;
        return nullptr;
    }
    [[nodiscard]] bool click(const char* name) const {
        auto* button = find<QAbstractButton>(name);
        if (button == nullptr || !button->isEnabled()) return false;
        QTest::mouseClick(button, Qt::LeftButton);
        return true;
    }
    /// Agrees to the questions that are open; false if there is none.
    [[nodiscard]] bool accept() const {
        bool accepted = false;
        for (QMessageBox* box : window.findChildren<QMessageBox*>()) {
            if (!box->isVisible()) continue;
            for (QAbstractButton* button : box->buttons()) {
                if (box->buttonRole(button) != QMessageBox::AcceptRole) continue;
                button->click();
                accepted = true;
            }
        }
        return accepted;
    }

private:
    static ui::Desktop desktop(std::function<Result<QString>()> shipped_text) {
        ui::Desktop parts{[](const QString&) -> Result<QString> { return QString(); }, [](const QString&) {}, {}, {}};
        parts.shipped_text = std::move(shipped_text);
        return parts;
    }

    bool m_is_stopped = false;
    ui::ProcessTransport m_transport;
    std::function<Result<QString>()> m_shipped_text;

public:
    ui::NodeClient client{m_transport};
    ui::Theme theme{*qApp};
    ui::Tray tray{client};
    ui::MainWindow window{client, theme, tray, desktop(std::move(m_shipped_text))};
};

}  // namespace potluck::test
