#include "core/release/signed_text.h"

namespace potluck::release {

Status check_signature(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                       const std::string& what) {
    const auto told = identity::verify_minisign(key, text, signature);
    if (told) return {};
    return Error{told.error().code, what + " is not used. " + told.error().message};
}

Status check_age(const Age& age, const Known& known, const std::string& what) {
    if (age.serial < known.serial) {
        return Error{ErrorCode::untrusted, what +
                                               " is older than one that was here already; nothing is "
                                               "taken back. Ask its maker for the newest one."};
    }
    if (age.expires <= known.now) {
        return Error{ErrorCode::untrusted, what + " has expired; get a newer one, and check this computer's clock."};
    }
    return {};
}

}  // namespace potluck::release
