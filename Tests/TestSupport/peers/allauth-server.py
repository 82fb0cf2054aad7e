"""django-allauth's headless API, for an app: a password, then the code of an authenticator app if the user has one. A code by
e-mail resets the password, and signs in.

Ada has no second factor; Bob has one. It listens on a port of the system's choice, prints "port N", and serves until its input
ends. For a line "mail" it prints "mail CODE", the code of the last e-mail; for any other one "code N", the current code of Bob's
app.
"""
import re
import sys
import threading
import time
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

settings.configure(
    DEBUG=False, SECRET_KEY="x" * 50, ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, USE_TZ=True,
    # Shared by the threads.
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:peer?mode=memory&cache=shared",
                           "OPTIONS": {"uri": True}}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "allauth", "allauth.account",
        "allauth.mfa", "allauth.headless"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
        "allauth.account.middleware.AccountMiddleware"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]}}],
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    ACCOUNT_EMAIL_VERIFICATION="none", ACCOUNT_LOGIN_METHODS={"email"}, ACCOUNT_RATE_LIMITS=False,
    ACCOUNT_PASSWORD_RESET_BY_CODE_ENABLED=True, ACCOUNT_LOGIN_ON_PASSWORD_RESET=True,
    ACCOUNT_SIGNUP_FIELDS=["email*", "password1*"], HEADLESS_ONLY=True, HEADLESS_CLIENTS=["app"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"], MFA_SUPPORTED_TYPES=["totp"])
django.setup()

from allauth.account.models import EmailAddress  # noqa: E402
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core import mail  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [path("_allauth/", include("allauth.headless.urls"))]
call_command("migrate", verbosity=0)
SECRET = "JBSWY3DPEHPK3PXP"


def add(name):
    user = get_user_model().objects.create_user(username=name, email=f"{name}@example.org", password="Correct-horse1")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


add("ada")
TOTP.activate(add("bob"), SECRET)


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


server = make_server("127.0.0.1", 0, get_wsgi_application(), Server, Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"port {server.server_port}", flush=True)
for line in sys.stdin:
    if line.strip() == "mail":
        # The code is alone on its line.
        print("mail " + re.search(r"^([A-Z0-9-]{6,})$", mail.outbox[-1].body, re.MULTILINE)[1], flush=True)
        continue
    # A code is good until its last second, and a used one is not accepted again.
    while time.time() % 30 > 26:
        time.sleep(0.1)
    counter = next(iter(yield_hotp_counters_from_time()))
    print("code " + format_hotp_value(hotp_value(SECRET, counter)), flush=True)
server.shutdown()
