"""The MCP SDK's own client, for a server that it starts as a command: `authc mcp URL`.

Arguments: authc, the URL, the mode of the client (auto, legacy or a version), and the tools to call. Each result is printed as
one line, with the version of the protocol before the first.
"""
import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

authc, url, mode, *tools = sys.argv[1:]
arguments = {"add": {"a": 2, "b": 3}, "route": {"region": "Übersee"}}
# The SDK passes only a few variables on.
server = StdioServerParameters(command=authc, args=["mcp", url], env=dict(os.environ))


async def seen(message):
    print("notification", getattr(message, "method", type(message).__name__), flush=True)


async def main():
    async with Client(server, mode=mode, message_handler=seen) as client:
        print(client.session.protocol_version, [tool.name for tool in (await client.list_tools()).tools], flush=True)
        for tool in tools:
            result = await client.call_tool(tool, arguments.get(tool, {}))
            print(tool, result.structured_content, flush=True)


try:
    asyncio.run(main())
except* MCPError as group:
    for error in group.exceptions:
        print("error", error.error.code, error.error.message, error.error.data, flush=True)
