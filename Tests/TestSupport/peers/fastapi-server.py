"""A backend as FastAPI's guide to security builds it, described by its own /openapi.json, and requests of other kinds.

Ada's password is given as the argument. It listens on a port of the system's choice, prints "port N", and serves until its
input ends. `/users/me` accepts a token in the Authorization header; `/places/…` accept it elsewhere and return what they received.
"""
import secrets
import socket
import sys
import threading
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, Form, HTTPException, Request, Security
from fastapi.responses import PlainTextResponse, RedirectResponse
from fastapi.security import (
    APIKeyCookie, APIKeyHeader, APIKeyQuery, HTTPBasic, HTTPBasicCredentials, OAuth2PasswordBearer,
    OAuth2PasswordRequestForm,
)

NAME, PASSWORD = "ada", sys.argv[1]
access, refresh = set(), set()
app = FastAPI(title="Notes", servers=[])
bearer = OAuth2PasswordBearer(tokenUrl="token")


def issue():
    access.clear()
    access.add(token := secrets.token_urlsafe())
    return token


def user(token: Annotated[str, Depends(bearer)]):
    if token not in access:
        raise HTTPException(401, "Invalid authentication credentials", {"WWW-Authenticate": "Bearer"})
    return {"username": NAME, "email": "ada@example.org"}


@app.post("/token")
async def login(form: Annotated[OAuth2PasswordRequestForm, Depends()]):
    if (form.username, form.password) != (NAME, PASSWORD):
        raise HTTPException(400, "Incorrect username or password")
    return {"access_token": issue(), "token_type": "bearer"}


@app.get("/users/me")
async def read_me(me: Annotated[dict, Depends(user)]):
    return me


@app.post("/notes")
async def write_note(
    me: Annotated[dict, Depends(user)], text: Annotated[str, Form()], stars: Annotated[int, Form()] = 0,
    tags: Annotated[list[str], Form()] = [],
):
    return {"by": me["username"], "text": text, "stars": stars, "tags": tags}


# What follows is not in the document.


@app.post("/session", include_in_schema=False)
async def begin(name: Annotated[str, Form()], password: Annotated[str, Form()], scope: Annotated[list[str], Form()]):
    if (name, password) != (NAME, PASSWORD):
        raise HTTPException(401, "Wrong name or password")
    refresh.add(token := secrets.token_urlsafe())
    return {"access_token": issue(), "refresh_token": token, "scope": " ".join(scope)}


@app.post("/renewal", include_in_schema=False)
async def renew(refresh_token: Annotated[str, Form()]):
    if refresh_token not in refresh:
        raise HTTPException(401, "Unknown refresh token")
    return {"access_token": issue()}


@app.post("/end", include_in_schema=False)
async def end(refresh_token: Annotated[str, Form()]):
    refresh.discard(refresh_token)
    access.clear()
    print("signed out", flush=True)
    return {}


def multipart(request: Request):
    if not request.headers.get("content-type", "").startswith("multipart/form-data;"):
        raise HTTPException(415, "Not multipart/form-data")


# A form accepts both formats (https://fastapi.tiangolo.com/tutorial/request-forms/); these accept only one.
for path, handler in [("/session", begin), ("/renewal", renew), ("/end", end)]:
    app.post("/parts" + path, include_in_schema=False, dependencies=[Depends(multipart)])(handler)


@app.post("/basic", include_in_schema=False)
async def basic(credentials: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]):
    if (credentials.username, credentials.password) != (NAME, PASSWORD):
        raise HTTPException(401, "Wrong name or password")
    return {"access_token": issue()}


@app.post("/filters", include_in_schema=False)
async def filters(request: Request):
    body = await request.json()
    print("filters", body, flush=True)
    return {"access_token": issue()}


@app.post("/control/revoke", include_in_schema=False)
async def revoke():
    """Ends the present access token."""
    access.clear()


@app.api_route("/away", methods=["GET", "POST"], include_in_schema=False)
async def away(to: str):
    return RedirectResponse(to, 307)


@app.post("/size", include_in_schema=False)
async def size(request: Request, me: Annotated[dict, Depends(user)]):
    return {"size": len(await request.body())}


def received(request: Request, token: str):
    if token not in access:
        raise HTTPException(401, "Unknown token")
    found = [f"query {name}" for name, value in request.query_params.multi_items() if token in value]
    found += [f"header {name}" for name, value in request.headers.items() if token in value]
    return {"found": found, "address": request.url.path}


@app.get("/places/query", include_in_schema=False)
async def in_query(request: Request, token: Annotated[str, Security(APIKeyQuery(name="api_key"))]):
    return received(request, token)


@app.get("/places/header", include_in_schema=False)
async def in_header(request: Request, token: Annotated[str, Security(APIKeyHeader(name="X-API-Key"))]):
    return received(request, token)


@app.get("/places/cookie", include_in_schema=False)
async def in_cookie(request: Request, token: Annotated[str, Security(APIKeyCookie(name="sid"))]):
    return received(request, token)


@app.get("/places/word", include_in_schema=False)
async def in_word(request: Request, token: Annotated[str, Security(APIKeyHeader(name="Authorization"))]):
    kind, _, token = token.partition(" ")
    if kind != "Token":
        raise HTTPException(401, "Not a token")
    return received(request, token)


@app.get("/places/{place}/user", include_in_schema=False)
async def owner(request: Request, place: str):
    handlers = {"query": request.query_params.get("api_key"), "header": request.headers.get("x-api-key"),
                "cookie": request.cookies.get("sid"), "word": request.headers.get("authorization", "")[6:]}
    if handlers[place] not in access:
        raise HTTPException(401, "Unknown token")
    return {"username": NAME}


@app.get("/seen", include_in_schema=False)
async def seen(request: Request):
    """All that a request without a check brings."""
    return PlainTextResponse(f"{request.url.query}\n{request.headers!r}")


def serve():
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"port {listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_level="critical", lifespan="off")
    uvicorn.Server(config).run(sockets=[listener])


threading.Thread(target=serve, daemon=True).start()
sys.stdin.read()
