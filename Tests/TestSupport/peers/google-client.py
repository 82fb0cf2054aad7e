"""Google's library for Python as a program on Compute Engine uses it: it finds its metadata server in the environment.

It prints one line of JSON: the token and its account, or the error and how many seconds it took. With an audience as its
argument, it gets an identity token for that instead.
"""
import json
import sys
import time

import google.auth
import google.auth.compute_engine
import google.auth.exceptions
import google.auth.transport.requests

start = time.monotonic()
request = google.auth.transport.requests.Request()


def identity(audience):
    credentials = google.auth.compute_engine.IDTokenCredentials(
        request, target_audience=audience, use_metadata_identity_endpoint=True)
    credentials.refresh(request)
    return {"identity": credentials.token, "is_valid": credentials.valid}


def access():
    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials.refresh(request)
    return {
        "kind": type(credentials).__module__, "token": credentials.token, "account": credentials.service_account_email,
        "universe": credentials.universe_domain, "is_valid": credentials.valid}


try:
    result = identity(sys.argv[1]) if len(sys.argv) > 1 else access()
except google.auth.exceptions.GoogleAuthError as error:
    result = {"error": str(error), "seconds": time.monotonic() - start}
print(json.dumps(result))
