"""A provider whose sign-ins need more than one request: keys, a CSRF token, a second factor, a choice of tenant, and links
by e-mail.

It listens on a port of the system's choice, prints "port N", and serves until its input ends. GET /log lists the requests
that it received; POST /control/… changes what it does.
"""
import base64
import http.server
import itertools
import json
import sys
import threading

numbers = itertools.count(1)
lock = threading.Lock()
log = []
keys = {"Bearer key-good": "7", "Basic " + base64.b64encode("ada:pä:ss".encode()).decode(): "8"}
tokens, csrf, flows, links = {}, set(), {}, {}
settings = {"retry_after": None, "same": False}


class Refused(Exception):
    def __init__(self, status, body, headers=()):
        self.answer = (status, body, headers)


class Provider(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def reply(self, status, body, headers=()):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        self.body = json.loads(raw) if raw else {}
        path = self.path.split("?")[0]
        with lock:
            if path != "/log" and not path.startswith("/control/"):
                log.append(f"{self.command} {path}")
            try:
                status, body, headers = self.route(path)
            except Refused as refused:
                status, body, headers = refused.answer
        self.reply(status, body, headers)

    do_GET = do_POST = handle_any

    def route(self, path):
        name = (self.command + path.replace("/", "_")).replace("-", "_")
        parts = path.strip("/").split("/")
        if parts[0] == "link" and len(parts) == 2:
            return self.link(parts[1])
        found = getattr(self, name, None)
        if found is None:
            raise Refused(404, {"message": "Nothing here"})
        answer = found()
        return answer if len(answer) == 3 else (*answer, ())

    # What a test asks and orders

    def GET_log(self):
        return 200, log

    def POST_control_revoke(self):
        keys.clear()
        return 200, {}

    def POST_control_open(self):
        for link in links.values():
            link["open"] = True
        return 200, {}

    def POST_control_set(self):
        settings.update(self.body)
        return 200, {}

    # Keys

    def GET_me(self):
        shown = self.headers.get("Authorization") or ""
        if shown == "Bearer key-blocked":
            raise Refused(403, {"message": "This key is blocked"})
        user = keys.get(shown) or tokens.get(shown.removeprefix("Bearer "))
        if user is None:
            raise Refused(401, {"message": "No such key"})
        return 200, {"id": user, "email": f"user{user}@example.org"}

    # A password, a CSRF token, and steps

    def GET_csrf(self):
        token = f"csrf-{next(numbers)}&=\"{{}}"
        csrf.add(token)
        headers = [("X-CSRF", token), ("Set-Cookie", f"csrf={token.split('&')[0]}; Path=/; HttpOnly")]
        return 200, {"token": token}, headers

    def GET_csrf_header(self):
        _, body, headers = self.GET_csrf()
        return 200, {}, [("X-CSRF", body["token"])]

    def check_csrf(self):
        if self.headers.get("X-CSRF") not in csrf:
            raise Refused(403, {"message": "CSRF token missing"})

    def POST_login(self):
        self.check_csrf()
        if self.body.get("password") != "Correct-horse1":
            raise Refused(401, {"message": "Wrong password", "code": "bad_password"})
        user = self.body["email"].split("@")[0]
        flow = f"flow-{next(numbers)}"
        flows[flow] = user
        return self.next(flow, user, "login")

    def next(self, flow, user, done):
        if done == "login" and user in ("ada", "carol", "loop"):
            raise Refused(401, {
                "code": "mfa_required", "message": "Enter the code of your app", "flow": flow})
        if user in ("bob", "carol") and done != "tenant":
            return 200, {
                "next": "tenant", "flow": flow,
                "tenants": [{"id": 1, "name": "North"}, {"id": 2, "name": "South \u2067x"}]}
        if user == "chain":
            return 200, {"next": "again", "flow": flow}
        if user == "forgetful":
            raise Refused(401, {"code": "mfa_required", "message": "Enter the code of your app"})
        return 200, self.grant(user)

    def grant(self, user, **more):
        token = f"token-{next(numbers)}"
        tokens[token] = user
        return {"token": token, "user": {"id": user, "email": f"{user}@example.org"}, **more}

    def user_of_flow(self):
        self.check_csrf()
        user = flows.get(self.body.get("flow"))
        if user is None:
            raise Refused(400, {"message": "Unknown flow"})
        return user

    def POST_mfa(self):
        user = self.user_of_flow()
        if user == "loop":
            return self.next(self.body["flow"], user, "login")
        if self.body.get("code") != "123456":
            raise Refused(400, {"message": "Wrong code"})
        return self.next(self.body["flow"], user, "mfa")

    def POST_tenant(self):
        user = self.user_of_flow()
        if self.body.get("tenant") not in (1, 2):
            raise Refused(400, {"message": "Unknown tenant"})
        return 200, self.grant(user, message=f"Tenant {self.body['tenant']}")

    def POST_again(self):
        self.user_of_flow()
        return 200, {"next": "again", "flow": self.body["flow"]}

    # A link by e-mail

    def POST_link(self):
        number = f"link-{next(numbers)}"
        links[number] = {"open": False, "user": self.body["email"].split("@")[0]}
        return 202, {"status": "sent", "link": number, "message": "Open the link in the e-mail"}

    def link(self, number):
        link = links.get(number)
        if link is None:
            raise Refused(404, {"message": "Unknown link"})
        if settings["retry_after"] is not None:
            after, settings["retry_after"] = settings["retry_after"], None
            raise Refused(429, {"message": "Slow down"}, [("Retry-After", str(after))])
        if not link["open"]:
            return 202, {"status": "pending"}, ()
        return 200, self.grant(link["user"]), ()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=lambda: (sys.stdin.buffer.read(), server.shutdown()), daemon=True).start()
print(f"port {server.server_address[1]}", flush=True)
server.serve_forever()
