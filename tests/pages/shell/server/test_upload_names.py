"""An upload's name is cut on its way to the server, however its bytes arrive; nothing else of it changes."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from pages.shell.server.upload_names import LONGEST_HEAD, LONGEST_NAME, UploadNames
from tests.pages.asgi import messages

CONTENT = b'age,filename="x"\r\n\r\n41,"name=""y"' + bytes(range(256))


def upload(name: bytes) -> bytes:
    head = b'--b\r\nContent-Disposition: form-data; name="%b"; filename="%b"\r\nContent-Type: text/csv\r\n\r\n'
    return head % (name, name) + CONTENT + b"\r\n--b--\r\n"


def sent(body: bytes, *, pieces: int) -> tuple[int, str, bytes]:
    """The answer's status, and name and content that reach the app, when the body comes in pieces of so many bytes."""
    arrived: dict[str, bytes] = {}
    parts = [body[i : i + pieces] for i in range(0, len(body), pieces)]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async with Request(scope, receive).form() as form:
            file = next(iter(form.values()))
            assert not isinstance(file, str) and file.filename
            arrived[file.filename] = await file.read()

    form = (b"content-type", b"multipart/form-data; boundary=b")
    answer = messages(UploadNames(app), "/_stcore/upload_file/s/f", method="PUT", headers=[form], body=parts)
    name, content = next(iter(arrived.items()), ("", b""))
    return max((each.get("status", 0) for each in answer), default=0), name, content


@pytest.mark.parametrize("pieces", [7, 1 << 16])
@pytest.mark.parametrize(
    "name", ["people.csv", "n" * 5_000 + ".csv", "é" * 5_000 + ".parquet", "日" * 9_000 + ".csv.gz"]
)
def test_a_name_is_cut_to_what_a_file_system_takes(name: str, pieces: int) -> None:
    status, cut, content = sent(upload(name.encode()), pieces=pieces)
    assert (status, content) == (0, CONTENT)
    assert len(cut.encode()) <= LONGEST_NAME and cut.endswith(name[-4:])
    assert cut == name if len(name) < LONGEST_NAME else cut[:60] == name[:60]


def test_a_name_without_end_is_refused_with_a_sentence() -> None:
    assert sent(upload(b"n" * (LONGEST_HEAD + 10)), pieces=1 << 16) == (400, "", b"")
