"""A backend as the tutorial of Django REST framework builds it, with its ways of paging, and Django's admin site.

Ada's password is given as the argument. It listens on a port of the system's choice, prints "port N", and serves until its
input ends. Tokens are those of rest_framework.authtoken; a session cookie is accepted too.
"""
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="only for tests",
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "rest_framework", "rest_framework.authtoken",
    ],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }],
    STATIC_URL="static/",
    ROOT_URLCONF="__main__",
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [
            "rest_framework.authentication.TokenAuthentication",
            "rest_framework.authentication.SessionAuthentication",
        ],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.auth.models import Group  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import generics, pagination, serializers  # noqa: E402
from rest_framework.authtoken.views import obtain_auth_token  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["name"]


class Numbered(pagination.PageNumberPagination):
    page_size = 2


class Cursor(pagination.CursorPagination):
    page_size = 2
    ordering = "name"


class Linked(pagination.PageNumberPagination):
    """As "Header based pagination" in the framework's guide."""
    page_size = 2

    def get_paginated_response(self, data):
        links = [(self.get_previous_link(), "prev"), (self.get_next_link(), "next")]
        field = ", ".join(f'<{url}>; rel="{relation}"' for url, relation in links if url)
        return Response(data, headers={"Link": field} if field else {})


class Notes(generics.ListAPIView):
    queryset = Group.objects.order_by("name")
    serializer_class = NoteSerializer


class Me(APIView):
    def get(self, request):
        return Response({"username": request.user.get_username()})


urlpatterns = [
    path("admin/", admin.site.urls),
    path("api-token-auth/", obtain_auth_token),
    path("notes/", Notes.as_view(pagination_class=Numbered)),
    path("cursor/", Notes.as_view(pagination_class=Cursor)),
    path("linked/", Notes.as_view(pagination_class=Linked)),
    path("me/", Me.as_view()),
]


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


call_command("migrate", verbosity=0)
get_user_model().objects.create_superuser("ada", "ada@example.org", sys.argv[1])
Group.objects.bulk_create([Group(name=f"note {number}") for number in range(1, 6)])

from django.core.wsgi import get_wsgi_application  # noqa: E402

# The database is in the memory of one thread.
server = make_server("127.0.0.1", 0, get_wsgi_application(), WSGIServer, Quiet)


def end_with_input():
    sys.stdin.buffer.read()
    server.shutdown()


threading.Thread(target=end_with_input, daemon=True).start()
print(f"port {server.server_port}", flush=True)
server.serve_forever(poll_interval=0.1)
