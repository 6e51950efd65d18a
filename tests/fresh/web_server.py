#!/usr/bin/env python3
"""A static web server on 127.0.0.1 that answers ranges, as real ones do and Python's own does not: web_server.py FOLDER. Prints its port."""
import http.server
import pathlib
import re
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        file = pathlib.Path(self.translate_path(self.path))
        if not file.is_file():
            return self.send_error(404)
        size = file.stat().st_size
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), min(int(asked[2] or size), size - 1)) if asked else (0, size - 1)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        with file.open("rb") as content:
            content.seek(first)
            self.wfile.write(content.read(last - first + 1))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: Handler(*given, directory=sys.argv[1]))
print("port", server.server_port, flush=True)
server.serve_forever()
