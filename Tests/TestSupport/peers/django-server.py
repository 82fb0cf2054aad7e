"""An authorization server and API of django-oauth-toolkit, as its documentation sets it up.

Alice is signed in to it and has consented to the client. It listens on a port of the system's choice, prints "port N",
and serves until its input ends.

Arguments: redirect URIs of the client `native`, which is public.
  --wide          a refresh may request again what an earlier refresh left out (is_within_original_scope)
"""
import json
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings
from jwcrypto import jwk

arguments = sys.argv[1:]
wide = "--wide" in arguments
redirects = [argument for argument in arguments if not argument.startswith("--")]

settings.configure(
    SECRET_KEY="only for tests",
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    MIDDLEWARE=["__main__.signed_in"],
    ROOT_URLCONF="__main__",
    USE_TZ=True,
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": jwk.JWK.generate(kty="RSA", size=2048).export_to_pem(private_key=True, password=None)
        .decode(),
        "SCOPES": {"openid": "who you are", "read": "read", "write": "write"},
        "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
        "DCR_ENABLED": True,
        "DCR_REGISTRATION_PERMISSION_CLASSES": ("oauth2_provider.dcr.AllowAllDCRPermission",),
        "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"],
        "OAUTH2_VALIDATOR_CLASS": "__main__.Validator",
    },
)
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402
from oauth2_provider.urls import metadata_urlpatterns  # noqa: E402


class Validator(OAuth2Validator):
    def is_within_original_scope(self, request_scopes, refresh_token, request, *arguments, **more):
        return wide


def signed_in(get_response):
    def respond(request):
        request.user = get_user_model().objects.get(username="alice")
        return get_response(request)

    return respond


@protected_resource(scopes=["read"])
def read(request):
    return JsonResponse({"read": True})


@protected_resource(scopes=["write"])
def write(request):
    return JsonResponse({"write": True})


urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("", include((metadata_urlpatterns, "metadata"))),
    path("api/read", read),
    path("api/write", write),
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


class Server(WSGIServer):
    # The database is in the memory of one thread.
    request_queue_size = 64


call_command("migrate", verbosity=0)
alice = get_user_model().objects.create_user("alice", "alice@example.org", "pw")
Application.objects.create(
    client_id="native", user=alice, client_type=Application.CLIENT_PUBLIC, skip_authorization=True, algorithm="RS256",
    authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    redirect_uris=" ".join(redirects or ["http://127.0.0.1/callback"]))

from django.core.wsgi import get_wsgi_application  # noqa: E402

server = make_server("127.0.0.1", 0, get_wsgi_application(), Server, Quiet)


def end_with_input():
    sys.stdin.buffer.read()
    server.shutdown()


threading.Thread(target=end_with_input, daemon=True).start()
print(f"port {server.server_port}", flush=True)
server.serve_forever(poll_interval=0.1)
