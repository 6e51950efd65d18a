#include "ui/client/trainer_words.h"

#include <QCoreApplication>

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::TrainerWords)
};

}  // namespace

QString noTrainerText(const control::NodeSnapshot& node) {
    if (!node.releases || node.releases->has_trainer) return {};
    if (node.releases->has_key) {
        return Tr::tr(
            "This computer cannot train yet: the part of Potluck that trains is a download of its own, which is "
            "checked against its makers' signature. Once it is here, training begins by itself.");
    }
    return Tr::tr(
        "This computer cannot train yet: the part of Potluck that trains is not installed, and this build cannot "
        "download it. Install the package potluck-trainer, then try again.");
}

}  // namespace potluck::ui
