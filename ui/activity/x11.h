// What an X server tells: windows that fill a screen, and how long ago the last input was. Opening a display may block
// for as long as its socket is stale, so it happens on the probe's thread only.
//
// Below Wayland the server is Xwayland, which knows X programs and their input alone: what it sees counts, and what it
// does not see means nothing (Blindness::partial).
// Linux only. Threads: one, from the first look on. Owns: its connection.
#pragma once

#include <optional>
#include <string>

#include "core/activity/probe.h"

struct xcb_connection_t;

namespace potluck::ui {

class X11Display {
public:
    X11Display() = default;
    ~X11Display() { close(); }
    X11Display(const X11Display&) = delete;
    X11Display& operator=(const X11Display&) = delete;

    /// Opens the display that DISPLAY names, if it is not open. False if there is none.
    [[nodiscard]] bool open();
    void close();
    /// The name of a program with a visible window in the state _NET_WM_STATE_FULLSCREEN; nothing if there is none.
    [[nodiscard]] std::optional<std::string> full_screen();
    /// Seconds since the last input, by the MIT-SCREEN-SAVER extension; nothing if the server has none.
    [[nodiscard]] std::optional<double> idle_seconds();

private:
    [[nodiscard]] std::uint32_t atom(const char* name);

    xcb_connection_t* m_connection = nullptr;
};

class X11FullScreenProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::full_screen; }
    activity::Sight look() override;

private:
    X11Display m_display;
};

class X11InputProbe final : public activity::Probe {
public:
    activity::Signal signal() const override { return activity::Signal::input; }
    activity::Sight look() override;
    Duration every() const override { return Duration{1'000}; }

private:
    X11Display m_display;
};

}  // namespace potluck::ui
