"""An API with a sign-in, for the tests of `authc proxy`: Starlette on uvicorn, with websockets and sse-starlette.

It accepts the newest access token only. POST /expire ends it; POST /go lets each stream of events continue. GET /log returns the
requests so far. It listens on a port of the system's choice, prints "port N", and serves until its input ends.
"""
import asyncio
import hashlib
import json
import os
import socket
import sys
import threading

import uvicorn
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute

state = {"count": 1, "valid": "token-secret-1"}
log = []
go = asyncio.Event()


def allowed(connection):
    return connection.headers.getlist("authorization") == ["Bearer " + state["valid"]]


def unauthorized():
    return JSONResponse({"message": "No"}, 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'})


def tokens():
    return JSONResponse({"token": state["valid"], "refresh": "refresh-secret"})


async def refresh(request):
    state["count"] += 1
    state["valid"] = f"token-secret-{state['count']}"
    return tokens()


async def expire(request):
    state["valid"] = "nothing"
    return Response()


async def echo(request):
    log.append([request.method, request.url.path, request.headers.get("authorization")])
    digest, count = hashlib.sha256(), 0
    if not allowed(request):
        return unauthorized()
    async for piece in request.stream():
        digest.update(piece)
        count += len(piece)
    fields = [[name, value] for name, value in request.headers.items()]
    target = request.scope["raw_path"].decode() + ("?" + request.url.query if request.url.query else "")
    return JSONResponse(
        {"method": request.method, "target": target, "fields": fields, "bytes": count, "sha256": digest.hexdigest(),
         "version": request.scope["http_version"]},
        headers={"Keep-Alive": "timeout=1", "X-Kept": "yes"})


async def events(request):
    if not allowed(request):
        return unauthorized()

    async def source():
        yield {"event": "first", "data": "1"}
        await go.wait()
        yield {"event": "second", "data": "2"}

    return EventSourceResponse(source())


async def proceed(request):
    go.set()
    return Response()


class Both:
    """Each piece of the body is answered before the next one arrives. A StreamingResponse would receive pieces itself."""

    def __init__(self, request):
        self.request = request

    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        async for piece in self.request.stream():
            await send({"type": "http.response.body", "body": piece.upper(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def both(request):
    return Both(request) if allowed(request) else unauthorized()


async def long(request):
    """As many MiB as the query says."""
    piece = os.urandom(1 << 20)

    async def source():
        for _ in range(int(request.query_params["mib"])):
            yield piece

    return StreamingResponse(source()) if allowed(request) else unauthorized()


async def broken(request):
    async def source():
        yield b"begun"
        raise OSError("broken on purpose")

    return StreamingResponse(source()) if allowed(request) else unauthorized()


async def away(request):
    place = request.query_params["to"].replace("OWN", f"http://{request.headers['host']}")
    return RedirectResponse(place, 302) if allowed(request) else unauthorized()


async def never(request):
    await asyncio.sleep(600)
    return Response()


async def stuck(request):
    """A 401 that does not end, whatever the token is."""
    async def source():
        yield b"begun"
        await asyncio.sleep(600)

    return StreamingResponse(source(), 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'})


async def socket_echo(websocket):
    log.append(["WEBSOCKET", websocket.url.path, websocket.headers.get("authorization")])
    if not allowed(websocket):
        return await websocket.send_denial_response(unauthorized())
    await websocket.accept(subprotocol=(websocket.scope["subprotocols"] or [None])[0])
    async for message in websocket.iter_bytes():
        await websocket.send_bytes(message)


every = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
app = Starlette(routes=[
    Route("/login", lambda request: tokens(), methods=["POST"]), Route("/refresh", refresh, methods=["POST"]),
    Route("/expire", expire, methods=["POST"]), Route("/go", proceed, methods=["POST"]),
    Route("/log", lambda request: JSONResponse(log)), Route("/events", events), Route("/both", both, methods=["POST"]),
    Route("/long", long), Route("/broken", broken), Route("/away", away), Route("/never", never),
    Route("/stuck", stuck),
    Route("/empty", lambda request: Response(status_code=204 if allowed(request) else 401)),
    WebSocketRoute("/ws", socket_echo), Route("/{path:path}", echo, methods=every),
])

listener = socket.create_server(("127.0.0.1", 0))
print("port", listener.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="websockets-sansio", ws_max_size=8 << 20))


def end():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end, daemon=True).start()
server.run(sockets=[listener])
