#include "ui/client/transport.h"

namespace potluck::ui {

Transport::~Transport() = default;

}  // namespace potluck::ui
