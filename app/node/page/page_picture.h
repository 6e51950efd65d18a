// The picture that chats show beside a link to the page (Open Graph): how far the run is, and its curve beside the
// baseline, and the run's link as a QR code, for those who see it on another screen. Words stand beside it, so there
// are none in it. Threads: functions of values.
#pragma once

#include "app/node/page/page_html.h"
#include "core/pictures/picture.h"

namespace potluck::node {

inline constexpr std::uint32_t page_picture_width = 1200, page_picture_height = 630;
inline constexpr std::string_view page_picture_name = "share.png";

[[nodiscard]] pictures::Picture page_picture(const PageFacts& facts);

}  // namespace potluck::node
