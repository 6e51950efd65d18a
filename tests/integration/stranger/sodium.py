"""What the protocol needs of libsodium, by ctypes: Ed25519, X25519 and the XChaCha20-Poly1305 stream."""
import copy
import ctypes
import ctypes.util

_NAMES = ["libsodium.so.23", "libsodium.so.26", "libsodium.so", "libsodium.dylib", "libsodium.dll"]
TAG_MESSAGE, TAG_REKEY = 0, 2


def _load():
    for name in [ctypes.util.find_library("sodium")] + _NAMES:
        if name is None:
            continue
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.sodium_init()
        return library
    raise OSError("libsodium is not on this computer")


_lib = _load()
_STREAM_BYTES = _lib.crypto_secretstream_xchacha20poly1305_statebytes()
HEADER_BYTES = _lib.crypto_secretstream_xchacha20poly1305_headerbytes()
OVERHEAD_BYTES = _lib.crypto_secretstream_xchacha20poly1305_abytes()


class Key:
    """An Ed25519 key: `id` is the public half, by which members know each other."""

    def __init__(self, seed):
        public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
        _lib.crypto_sign_seed_keypair(public, secret, bytes(seed))
        self.id, self._secret = public.raw, secret.raw

    def posing_as(self, other):
        """Signs with this key in the name of another."""
        impostor = copy.copy(self)
        impostor.id = other
        return impostor

    def sign(self, domain, text):
        """Over `u8 length of domain | domain | text`."""
        domain = domain.encode()
        signed = bytes([len(domain)]) + domain + text
        signature = ctypes.create_string_buffer(64)
        _lib.crypto_sign_detached(signature, None, signed, ctypes.c_ulonglong(len(signed)), self._secret)
        return signature.raw


def verify(key, domain, text, signature):
    """Whether `key` has signed this under the domain."""
    domain = domain.encode()
    signed = bytes([len(domain)]) + domain + text
    return _lib.crypto_sign_verify_detached(signature, signed, ctypes.c_ulonglong(len(signed)), key) == 0


def exchange_keys():
    """A fresh X25519 pair: secret, public."""
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    _lib.crypto_box_keypair(public, secret)
    return secret.raw, public.raw


def shared_secret(secret, public):
    shared = ctypes.create_string_buffer(32)
    if _lib.crypto_scalarmult(shared, secret, public) != 0:
        raise ValueError("a key of small order")
    return shared.raw


class SendingStream:
    def __init__(self, key):
        self._state, header = ctypes.create_string_buffer(_STREAM_BYTES), ctypes.create_string_buffer(HEADER_BYTES)
        _lib.crypto_secretstream_xchacha20poly1305_init_push(self._state, header, key)
        self.header = header.raw

    def push(self, message, tag=TAG_MESSAGE):
        sealed = ctypes.create_string_buffer(len(message) + OVERHEAD_BYTES)
        _lib.crypto_secretstream_xchacha20poly1305_push(self._state, sealed, None, message,
                                                        ctypes.c_ulonglong(len(message)), None, ctypes.c_ulonglong(0),
                                                        ctypes.c_ubyte(tag))
        return sealed.raw


class ReceivingStream:
    def __init__(self, header, key):
        self._state = ctypes.create_string_buffer(_STREAM_BYTES)
        if _lib.crypto_secretstream_xchacha20poly1305_init_pull(self._state, header, key) != 0:
            raise ValueError("a stream's header that does not fit")

    def pull(self, sealed):
        if len(sealed) < OVERHEAD_BYTES:
            raise ValueError("a sealed message that is too short")
        message = ctypes.create_string_buffer(max(1, len(sealed) - OVERHEAD_BYTES))
        opened = _lib.crypto_secretstream_xchacha20poly1305_pull(self._state, message, None, None, sealed,
                                                                 ctypes.c_ulonglong(len(sealed)), None,
                                                                 ctypes.c_ulonglong(0))
        if opened != 0:
            raise ValueError("a sealed message that does not open")
        return message.raw[:len(sealed) - OVERHEAD_BYTES]
