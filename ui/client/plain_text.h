// Text for the window: names from the network made harmless, and numbers as people read them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <QString>

namespace potluck::ui {

/// The length of a person's name, where it is typed and where it is shown.
inline constexpr int own_name_characters_max = 32;

/// One line of plain text of at most `most` characters (an ellipsis stands for what was cut). Control characters, line
/// breaks and characters that change the direction of writing become spaces, so that nobody's name rearranges a window.
[[nodiscard]] QString plainText(const QString& text, int most);
[[nodiscard]] QString plainText(std::string_view utf8, int most);

/// `text` for Qt's tool tips and for labels that guess whether a text is markup (Qt::mightBeRichText): they show
/// exactly these characters and load nothing. Tool tips of strangers' text go through here, and nowhere else is text
/// escaped.
[[nodiscard]] QString literalText(const QString& text);
/// `text` without the characters that begin markup: look-alikes stand for `<`, `>` and `&`. For the desktop's own tray
/// and notifications, of which some read markup and some do not, so that escaping would show on half of them.
[[nodiscard]] QString unmarkedText(QString text);

/// "0", "950", "12.4 k", "3.07 M", "1.2 G": at most three significant digits, decimal point by locale.
[[nodiscard]] QString shortCount(std::uint64_t count);
/// The whole number with its groups, for tool tips and screen readers.
[[nodiscard]] QString fullCount(std::uint64_t count);
/// "180 MB", "2.4 GB": as disks and downloads are counted.
[[nodiscard]] QString sizeText(std::uint64_t bytes);
/// "45 W", "6.5 W".
[[nodiscard]] QString wattText(double watts);
/// "350 Wh", "1.24 kWh".
[[nodiscard]] QString energyText(double joules);
/// "61 °C"
[[nodiscard]] QString heatText(double celsius);
/// "12.5 %", "< 0.1 %", "0 %"
[[nodiscard]] QString percent(double share);
/// A person's name, or the first digits of the id where there is none.
[[nodiscard]] QString displayName(const std::string& name, const std::string& id);

}  // namespace potluck::ui
