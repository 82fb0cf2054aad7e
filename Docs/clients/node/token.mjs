// node token.mjs [ORIGIN]: for how long the session has a token. Node's standard library only.
import net from "node:net";

/** Calls one method and resolves with its result; rejects with the agent's error, or one of the socket. */
export function call(method, params = {}, timeout = 70_000) {
    const path = process.env.AUTHD_SOCKET || `${process.env.XDG_RUNTIME_DIR}/authd/socket`;
    return new Promise((resolve, reject) => {
        const socket = net.createConnection(path);
        let text = "";
        socket.setEncoding("utf8");
        socket.setTimeout(timeout, () => socket.destroy(new Error("the agent did not answer in time")));
        socket.on("connect", () =>
            socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) + "\n"));
        socket.on("data", (more) => {
            text += more;
            const end = text.indexOf("\n");
            if (end < 0) return;
            socket.end();
            const answer = JSON.parse(text.slice(0, end));
            if (answer.error)
                reject(Object.assign(new Error(answer.error.message), { kind: answer.error.data?.kind }));
            else resolve(answer.result);
        });
        socket.on("error", reject);
        socket.on("close", () => reject(new Error("the agent closed the connection before it answered")));
    });
}

try {
    const token = await call("token.get", { origin: process.argv[2], min_valid_ms: 60_000 });
    // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
    console.log(`a token of ${token.access_token.length} bytes, good for a minute at least`);
} catch (error) {
    console.error(`${error.kind ?? "no_agent"}: ${error.message}`);
    process.exitCode = 1;
}
