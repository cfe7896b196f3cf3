"""An OpenID Connect provider on this machine, where whoever comes says who they are: for tests of logging in."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from launch import LOCALHOST

CLIENT = "dpscope"


class Provider(ThreadingHTTPServer):
    """Its address, its key, and what codes were given for; ``unverified`` addresses are anybody's."""

    def __init__(self, people: tuple[str, ...], unverified: str) -> None:
        super().__init__((LOCALHOST, 0), Answers)
        self.people, self.unverified = people, unverified
        self.address = f"http://{LOCALHOST}:{self.server_port}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "1", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, tuple[str, str]] = {}

    def token(self, code: str) -> dict[str, Any]:
        """What a code, which counts once, is exchanged for."""
        who, nonce = self.codes.pop(code)
        now = int(time.time())
        claims = {
            "iss": self.address, "aud": CLIENT, "sub": who, "iat": now, "exp": now + 600, "nonce": nonce, "email": who,
            "email_verified": who != self.unverified,
        }  # fmt: skip
        signed = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)
        return {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 600, "id_token": signed}

    def page(self, asked: dict[str, str]) -> str:
        """Links, one for each who may come back."""
        links = []
        for who in self.people:
            code = secrets.token_hex(8)
            self.codes[code] = who, asked.get("nonce", "")
            back = urlencode({"code": code, "state": asked["state"]})
            links.append(f'<p><a href="{asked["redirect_uri"]}?{back}">{who}</a></p>')
        return "\n".join(links)


class Answers(BaseHTTPRequestHandler):
    """The four addresses of a provider."""

    server: Provider

    def do_GET(self) -> None:
        """Where everything is, its public key, and who may log in."""
        parts = urlsplit(self.path)
        here = self.server.address
        if parts.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self._say(self.server.page(asked).encode(), "text/html")
        elif parts.path == "/jwks":
            self._say(json.dumps({"keys": [self.server.key.as_dict(private=False)]}).encode())
        else:
            told = {
                "issuer": here, "authorization_endpoint": f"{here}/authorize", "token_endpoint": f"{here}/token",
                "jwks_uri": f"{here}/jwks", "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }  # fmt: skip
            self._say(json.dumps(told).encode())

    def do_POST(self) -> None:
        """A code for a token."""
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._say(json.dumps(self.server.token(body["code"][0])).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _say(self, told: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)


@contextmanager
def provider(*people: str, unverified: str = "") -> Iterator[Provider]:
    """A provider that runs, where these people log in."""
    with Provider(people, unverified) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        try:
            yield served
        finally:
            served.shutdown()
