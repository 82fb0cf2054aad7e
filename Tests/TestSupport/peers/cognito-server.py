"""moto's Cognito: a user pool with a client and four users, who need a new password, nothing more, the code of an app, and the
code of a text message; and another pool whose one user needs a new password, and then has to set up an app.

It listens on a port of the system's choice, prints "port N" and "client ID strict ID", the clients of the two pools, and serves
until its input ends. For the line "sign out" it signs ada out everywhere and prints "signed out"; for any other line it prints
"code N", the current code of the app.
"""
import logging
import os
import sys
import time

os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")
os.environ.update(AWS_EC2_METADATA_DISABLED="true", MOTO_COGNITO_IDP_USER_POOL_ENABLE_TOTP="true")

import boto3  # noqa: E402
from moto.cognitoidp.models import COGNITO_TOTP_MFA_SECRET, cognito_totp  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
idp = boto3.client("cognito-idp", endpoint_url=f"http://127.0.0.1:{port}")


def add_pool(name):
    pool = idp.create_user_pool(PoolName=name)["UserPool"]["Id"]
    return pool, idp.create_user_pool_client(
        UserPoolId=pool, ClientName="native",
        ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"])["UserPoolClient"]["ClientId"]


def add(pool, name, password, is_temporary=False):
    idp.admin_create_user(
        UserPoolId=pool, Username=name, TemporaryPassword=password,
        UserAttributes=[{"Name": "email", "Value": f"{name}@example.org"}])
    if not is_temporary:
        idp.admin_set_user_password(UserPoolId=pool, Username=name, Password=password, Permanent=True)


pool, client = add_pool("people")
add(pool, "new", "Temporary-1", is_temporary=True)
for name in ["ada", "app", "text"]:
    add(pool, name, "Correct-horse1")
# moto sends no text message, and accepts any code that is not empty.
idp.admin_set_user_mfa_preference(
    UserPoolId=pool, Username="text", SMSMfaSettings={"Enabled": True, "PreferredMfa": True})
strict_pool, strict = add_pool("strict")
idp.set_user_pool_mfa_config(
    UserPoolId=strict_pool, MfaConfiguration="ON", SoftwareTokenMfaConfiguration={"Enabled": True})
add(strict_pool, "new", "Temporary-1", is_temporary=True)


def code():
    # moto accepts a code until its last second, and not a second longer.
    while time.time() % 30 > 26:
        time.sleep(0.1)
    return cognito_totp(COGNITO_TOTP_MFA_SECRET).generate(time.time()).decode()


tokens = idp.initiate_auth(
    ClientId=client, AuthFlow="USER_PASSWORD_AUTH",
    AuthParameters={"USERNAME": "app", "PASSWORD": "Correct-horse1"})["AuthenticationResult"]
idp.associate_software_token(AccessToken=tokens["AccessToken"])
idp.verify_software_token(AccessToken=tokens["AccessToken"], UserCode=code())
idp.set_user_mfa_preference(
    AccessToken=tokens["AccessToken"], SoftwareTokenMfaSettings={"Enabled": True, "PreferredMfa": True})
print(f"port {port}\nclient {client} strict {strict}", flush=True)
for line in sys.stdin:
    if line == "sign out\n":
        idp.admin_user_global_sign_out(UserPoolId=pool, Username="ada")
        print("signed out", flush=True)
        continue
    print(f"code {code()}", flush=True)
server.stop()
