// XCB by hand: a dozen requests, each answered before the next, because they are few and their thread waits for nothing
// else. Windows come from the window manager's list (_NET_CLIENT_LIST of the Extended Window Manager Hints); where no
// window manager keeps one, from the root window's children. A window counts if it is mapped, in the state FULLSCREEN
// and not HIDDEN, which is how a minimised one says that it is not seen.
//
// MIT-SCREEN-SAVER's QueryInfo is encoded here, since its library is one that few computers have: request 1 with the
// root window, and in the answer the milliseconds since the last input (X11 screen saver extension, section 5).
#include "ui/activity/x11.h"

#ifdef __linux__

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <xcb/xcb.h>
#include <xcb/xcbext.h>

namespace potluck::ui {

namespace {

using activity::blind;
using activity::Blindness;
using activity::seen;
using activity::Sight;

constexpr std::uint32_t words_max = 4096;  // of a property

struct Free {
    void operator()(void* reply) const { std::free(reply); }
};
template <class Reply>
using Answer = std::unique_ptr<Reply, Free>;

std::vector<std::uint32_t> numbers_of(xcb_connection_t* connection, xcb_window_t window, xcb_atom_t property) {
    const auto asked = xcb_get_property(connection, 0, window, property, XCB_GET_PROPERTY_TYPE_ANY, 0, words_max);
    const Answer<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection, asked, nullptr));
    if (!reply || reply->format != 32) return {};
    const auto* first = static_cast<const std::uint32_t*>(xcb_get_property_value(reply.get()));
    const auto count = static_cast<std::size_t>(xcb_get_property_value_length(reply.get())) / sizeof *first;
    return {first, first + count};
}

/// WM_CLASS holds two texts with a NUL behind each; the first names the program.
std::string program_of(xcb_connection_t* connection, xcb_window_t window) {
    const auto asked =
        xcb_get_property(connection, 0, window, XCB_ATOM_WM_CLASS, XCB_GET_PROPERTY_TYPE_ANY, 0, words_max);
    const Answer<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection, asked, nullptr));
    if (!reply || reply->format != 8) return {};
    const auto* text = static_cast<const char*>(xcb_get_property_value(reply.get()));
    const auto length = static_cast<std::size_t>(xcb_get_property_value_length(reply.get()));
    return {text, ::strnlen(text, length)};
}

std::vector<xcb_window_t> children_of(xcb_connection_t* connection, xcb_window_t root) {
    const Answer<xcb_query_tree_reply_t> tree(
        xcb_query_tree_reply(connection, xcb_query_tree(connection, root), nullptr));
    if (!tree) return {};
    const xcb_window_t* first = xcb_query_tree_children(tree.get());
    return {first, first + xcb_query_tree_children_length(tree.get())};
}

bool is_visible(xcb_connection_t* connection, xcb_window_t window) {
    const Answer<xcb_get_window_attributes_reply_t> facts(
        xcb_get_window_attributes_reply(connection, xcb_get_window_attributes(connection, window), nullptr));
    return facts && facts->map_state == XCB_MAP_STATE_VIEWABLE;
}

bool contains(const std::vector<std::uint32_t>& values, std::uint32_t value) {
    return std::ranges::find(values, value) != values.end();
}

bool below_wayland() { return std::getenv("WAYLAND_DISPLAY") != nullptr; }

}  // namespace

bool X11Display::open() {
    if (m_connection != nullptr && xcb_connection_has_error(m_connection) == 0) return true;
    close();
    m_connection = xcb_connect(nullptr, nullptr);
    return xcb_connection_has_error(m_connection) == 0;
}

void X11Display::close() {
    if (m_connection != nullptr) xcb_disconnect(m_connection);
    m_connection = nullptr;
}

std::uint32_t X11Display::atom(const char* name) {
    const auto asked = xcb_intern_atom(m_connection, 0, static_cast<std::uint16_t>(std::strlen(name)), name);
    const Answer<xcb_intern_atom_reply_t> reply(xcb_intern_atom_reply(m_connection, asked, nullptr));
    return reply ? reply->atom : static_cast<std::uint32_t>(XCB_ATOM_NONE);
}

std::optional<std::string> X11Display::full_screen() {
    const std::uint32_t clients = atom("_NET_CLIENT_LIST"), state = atom("_NET_WM_STATE");
    const std::uint32_t full = atom("_NET_WM_STATE_FULLSCREEN"), hidden = atom("_NET_WM_STATE_HIDDEN");
    for (auto screen = xcb_setup_roots_iterator(xcb_get_setup(m_connection)); screen.rem > 0;
         xcb_screen_next(&screen)) {
        std::vector<xcb_window_t> windows = numbers_of(m_connection, screen.data->root, clients);
        if (windows.empty()) windows = children_of(m_connection, screen.data->root);
        for (const xcb_window_t window : windows) {
            const std::vector<std::uint32_t> states = numbers_of(m_connection, window, state);
            if (contains(states, full) && !contains(states, hidden) && is_visible(m_connection, window))
                return program_of(m_connection, window);
        }
    }
    return std::nullopt;
}

std::optional<double> X11Display::idle_seconds() {
    struct Query {
        std::uint8_t major = 0, minor = 1;
        std::uint16_t length = 2;
        std::uint32_t drawable = 0;
    };
    struct Info {
        std::uint8_t type, state;
        std::uint16_t sequence;
        std::uint32_t length, saver_window, until_server, since_input, event_mask;
        std::uint8_t kind, unused[7];
    };
    static_assert(sizeof(Query) == 8 && sizeof(Info) == 32);
    static xcb_extension_t extension = {"MIT-SCREEN-SAVER", 0};
    const xcb_query_extension_reply_t* known = xcb_get_extension_data(m_connection, &extension);
    if (known == nullptr || known->present == 0) return std::nullopt;
    Query query;
    query.drawable = xcb_setup_roots_iterator(xcb_get_setup(m_connection)).data->root;
    iovec parts[4] = {};  // XCB uses the two before those that it is given
    parts[2] = {&query, sizeof query};
    const xcb_protocol_request_t request = {2, &extension, 1, 0};
    const unsigned sent = xcb_send_request(m_connection, XCB_REQUEST_CHECKED, parts + 2, &request);
    xcb_generic_error_t* error = nullptr;
    const Answer<Info> info(static_cast<Info*>(xcb_wait_for_reply(m_connection, sent, &error)));
    std::free(error);
    if (!info) return std::nullopt;
    return info->since_input / 1000.0;
}

Sight X11FullScreenProbe::look() {
    if (!m_display.open()) return blind(Blindness::no_display);
    const auto program = m_display.full_screen();
    Sight sight = program ? seen(1, *program) : seen(0);
    if (below_wayland()) sight.blindness = Blindness::partial;
    return sight;
}

Sight X11InputProbe::look() {
    // Input that goes to programs of Wayland is none of Xwayland's: it would count a busy owner as gone.
    if (below_wayland() || !m_display.open()) return blind(Blindness::no_display);
    const auto idle = m_display.idle_seconds();
    return idle ? seen(*idle) : blind(Blindness::no_device);
}

}  // namespace potluck::ui

#endif
