"""The sealed channel inside a connection: section 8 of docs/wire-format.md. Two frames each way, then one frame a
message."""
import hashlib

import sodium
from wire import u64, u8

MESSAGES_PER_KEY = 4096


class Channel:
    def __init__(self, key, run):
        self._key, self._run = key, run
        self._secret, self._own = sodium.exchange_keys()
        self._sending = self._receiving = self._receive_key = None
        self._sent = 0
        self.peer = None

    def hello(self):
        return u8(1) + self._own

    def take_hello(self, frame):
        """Returns our proof."""
        if len(frame) != 33 or frame[0] != 1:
            raise ValueError("not a hello")
        peer = frame[1:]
        self._low, self._high = sorted((self._own, peer))
        secret = sodium.shared_secret(self._secret, peer)
        keys = hashlib.blake2b(b"potluck/channel-keys/1" + secret + self._low + self._high + self._run).digest()
        self._side = 0 if self._own == self._low else 1
        own, other = (keys[:32], keys[32:]) if self._side == 0 else (keys[32:], keys[:32])
        self._sending, self._receive_key = sodium.SendingStream(own), other
        signature = self._key.sign("potluck/channel/1", self._proof_text(self._side))
        return self._sending.header + self.seal(self._key.id + signature)

    def take_proof(self, frame):
        """The other end is who it says it is, or this raises a ValueError."""
        self._receiving = sodium.ReceivingStream(frame[:sodium.HEADER_BYTES], self._receive_key)
        proof = self._receiving.pull(frame[sodium.HEADER_BYTES:])
        if not sodium.verify(proof[:32], "potluck/channel/1", self._proof_text(1 - self._side), proof[32:]):
            raise ValueError("a proof that its peer has not signed")
        self.peer = proof[:32]

    def seal(self, message):
        self._sent += 1
        rekey = self._sent % MESSAGES_PER_KEY == 0
        return self._sending.push(message, sodium.TAG_REKEY if rekey else sodium.TAG_MESSAGE)

    def open(self, frame):
        return self._receiving.pull(frame)

    def _proof_text(self, side):
        return u64(len(self._run)) + self._run + self._low + self._high + u8(side)
