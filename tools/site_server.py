"""Serve a built site on loopback the way a web host would: compressed, and counting what goes over the wire."""

from __future__ import annotations

import contextlib
import gzip
import http.server
import mimetypes
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMPRESSED = (".html", ".css", ".js", ".json", ".svg", ".txt", ".xml", ".py")  # fonts and images are compressed already


@dataclass
class Served:
    """A site being served. `wire` maps each path that was asked for to the bytes of its body as sent."""

    url: str
    wire: dict[str, int] = field(default_factory=dict)


@contextlib.contextmanager
def serve(site: Path) -> Iterator[Served]:
    """Serve the folder `site` until the block ends."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            file = (site / path.lstrip("/")).resolve()
            if file.is_dir():
                file /= "index.html"
            found = file.is_file() and file.is_relative_to(site.resolve())
            body = (file if found else site / "404.html").read_bytes()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", mimetypes.guess_type(file.name)[0] or "text/html")
            if not found or file.suffix in COMPRESSED:
                body = gzip.compress(body, 6, mtime=0)  # 6: what web hosts use
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            served.wire[path] = len(body)
            with contextlib.suppress(ConnectionError):  # the browser left the page
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
