"""The MCP SDK's own client over Streamable HTTP, with a token from authd, as Docs/mcp.md shows.

Arguments: authc, the URL of the server, and the session. Before each request the command is run again; no token is kept. It calls
a tool and prints the sum.
"""
import asyncio
import subprocess
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

authc, url, session = sys.argv[1:]


class Header(httpx2.Auth):
    """A token for this server, whoever renewed it."""

    def auth_flow(self, request):
        command = [authc, "token", "--for", url, "-s", session]
        token = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        request.headers["Authorization"] = "Bearer " + token
        yield request


async def main():
    # Twenty of these start at once: its own limit of 5 s is too short then.
    async with httpx2.AsyncClient(auth=Header(), trust_env=False, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("add", {"a": 2, "b": 3})
            print(names, result.structured_content)


asyncio.run(main())
