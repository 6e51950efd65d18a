"""A BitTorrent client of the first version, which knows nothing of hybrid torrents.

    plain_v1.py ADDRESS:PORT INFO-HASH FOLDER

Fetches the metadata (BEP 9) and every piece (BEP 3) of the torrent with that v1 info-hash from that one peer, checks the
SHA-1 of each, and leaves FOLDER/info (the bytes of the info dictionary) and FOLDER/file.
"""
import hashlib
import pathlib
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration" / "stranger"))

import bencode  # noqa: E402

BLOCK = 16384
CHOKE, UNCHOKE, INTERESTED, REQUEST, PIECE, EXTENDED = 0, 1, 2, 6, 7, 20
OUR_METADATA = 1  # the number that the peer's metadata messages to us carry


class Peer:
    def __init__(self, address, info_hash):
        self.socket = socket.create_connection(address, 10)
        self.choked = True
        reserved = bytes((0, 0, 0, 0, 0, 0x10, 0, 0))  # extension protocol (BEP 10)
        self.socket.sendall(b"\x13BitTorrent protocol" + reserved + info_hash + b"-XX0001-" + bytes(12))
        answer = self.read(68)
        assert answer[28:48] == info_hash, "the peer answers for another torrent"
        self.send(EXTENDED, b"\0" + bencode.encode({b"m": {b"ut_metadata": OUR_METADATA}}))

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            assert more, "the peer has closed the connection"
            data += more
        return data

    def send(self, kind, body=b""):
        self.socket.sendall(struct.pack(">IB", 1 + len(body), kind) + body)

    def next(self, wanted):
        """The body of the next message of that kind."""
        while True:
            size = struct.unpack(">I", self.read(4))[0]
            message = self.read(size)
            if not message:
                continue
            if message[0] in (CHOKE, UNCHOKE):
                self.choked = message[0] == CHOKE
            if message[0] == wanted:
                return message[1:]

    def extended(self, number):
        while True:
            body = self.next(EXTENDED)
            if body[0] == number:
                return body[1:]

    def metadata(self):
        shake = bencode.decode(self.extended(0))
        size, number = shake[b"metadata_size"], shake[b"m"][b"ut_metadata"]
        info = b""
        while len(info) < size:
            self.send(EXTENDED, bytes((number,)) + bencode.encode({b"msg_type": 0, b"piece": len(info) // BLOCK}))
            body = self.extended(OUR_METADATA)
            head, end = bencode.decode_at(body, 0)
            assert head[b"msg_type"] == 1, "the peer refuses the metadata"
            info += body[end:]
        return info

    def piece(self, number, size):
        data = b""
        while len(data) < size:
            self.send(REQUEST, struct.pack(">III", number, len(data), min(BLOCK, size - len(data))))
            data += self.next(PIECE)[8:]
        return data


def main():
    where, info_hash, folder = sys.argv[1], bytes.fromhex(sys.argv[2]), pathlib.Path(sys.argv[3])
    host, _, port = where.rpartition(":")
    peer = Peer((host, int(port)), info_hash)
    raw = peer.metadata()
    assert hashlib.sha1(raw).digest() == info_hash, "the metadata has another hash"
    (folder / "info").write_bytes(raw)
    info = bencode.decode(raw)
    length, piece_length, hashes = info[b"length"], info[b"piece length"], info[b"pieces"]
    peer.send(INTERESTED)
    while peer.choked:
        peer.next(UNCHOKE)
    with open(folder / "file", "wb") as file:
        for number in range(len(hashes) // 20):
            piece = peer.piece(number, min(piece_length, length - number * piece_length))
            assert hashlib.sha1(piece).digest() == hashes[20 * number:20 * number + 20], f"piece {number} is damaged"
            file.write(piece)


if __name__ == "__main__":
    main()
