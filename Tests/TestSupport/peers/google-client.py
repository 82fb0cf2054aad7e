"""Google's library for Python as a program on Compute Engine uses it: it finds its metadata server in the environment.

It prints one line of JSON: the token and its account, or the error and how many seconds it took.
"""
import json
import time

import google.auth
import google.auth.exceptions
import google.auth.transport.requests

start = time.monotonic()
try:
    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials.refresh(google.auth.transport.requests.Request())
    result = {
        "kind": type(credentials).__module__, "token": credentials.token, "account": credentials.service_account_email,
        "universe": credentials.universe_domain, "is_valid": credentials.valid}
except google.auth.exceptions.GoogleAuthError as error:
    result = {"error": str(error), "seconds": time.monotonic() - start}
print(json.dumps(result))
