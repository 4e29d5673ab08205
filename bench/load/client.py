"""A client of `heed serve` on asyncio's streams: one connection, kept alive."""
import asyncio
import json
import time


class Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:200]}")
        self.status = status


class Client:
    def __init__(self, port):
        self.port = port
        self.reader = self.writer = None

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.writer = None

    async def _head(self):
        """The status, and the headers in lower case as they stand."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        return int(head[9:12]), head

    async def _send(self, method, path, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 26)
        data = json.dumps(body).encode() if body is not None else b""
        self.writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        return await self._head()

    async def _chunks(self):
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    async def _body(self, head):
        if "\r\ntransfer-encoding: chunked\r\n" in head:
            return b"".join([chunk async for chunk in self._chunks()])
        length = head.partition("\r\ncontent-length: ")[2].partition("\r\n")[0]
        return await self.reader.readexactly(int(length or 0))

    async def text(self, method, path, body=None):
        """The status and the body of an answer."""
        status, head = await self._send(method, path, body)
        data = await self._body(head)
        if "\r\nconnection: close\r\n" in head:
            self.close()
        return status, data.decode()

    async def post(self, path, **body):
        """The answer as JSON; raises Refused."""
        status, text = await self.text("POST", path, body)
        if status != 200:
            raise Refused(status, text)
        return json.loads(text)

    async def stream(self, path, **body):
        """The events of an answer, each with the moment when it arrived; raises Refused."""
        status, head = await self._send("POST", path, {**body, "stream": True})
        if status != 200:
            raise Refused(status, (await self._body(head)).decode())
        rest = b""
        async for chunk in self._chunks():
            now = time.monotonic()
            *events, rest = (rest + chunk).split(b"\n\n")
            for event in events:
                data = event.removeprefix(b"data: ")
                if data != b"[DONE]":
                    yield now, json.loads(data)
