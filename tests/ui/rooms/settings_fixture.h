// A window on the page of settings, over a node that says what a test lets it say.
#pragma once

#include "tests/ui/window_fixture.h"

namespace potluck::tests {

struct SettingsFixture : WindowFixture {
    SettingsFixture() {
        say();
        window->showPage(ui::MainWindow::settings_page);
        settle();
    }
    /// The node says what `snapshot` holds.
    void say() {
        node.push(snapshot);
        settle();
    }
    [[nodiscard]] bool hasShown(const char* name) const { return find<QWidget>(name)->isVisibleTo(window.get()); }

    control::NodeSnapshot snapshot = recordedSnapshot("training");
};

}  // namespace potluck::tests
