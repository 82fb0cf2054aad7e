// node token.mjs [ORIGIN]: gets an access token and prints its length. Node's standard library only.
import net from "node:net";

/** The agent's answer is an error; `kind` is a word for programs. */
class AgentError extends Error {
    constructor(error) {
        super(error.message);
        this.kind = error.data?.kind ?? "internal";
    }
}

/** Calls one method and resolves with its result. Rejects with an AgentError, or with an error of the socket. */
export function call(method, params = {}, timeout = 70_000) {
    const path = process.env.AUTHD_SOCKET || `${process.env.XDG_RUNTIME_DIR}/authd/socket`;
    return new Promise((resolve, reject) => {
        const socket = net.createConnection(path);
        const deadline = setTimeout(() => socket.destroy(new Error("the agent did not answer in time")), timeout);
        let text = "";
        socket.setEncoding("utf8");
        socket.on("connect", () =>
            socket.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) + "\n"));
        socket.on("data", (more) => {
            text += more;
            const end = text.indexOf("\n");
            if (end < 0) return;
            try {
                const answer = JSON.parse(text.slice(0, end));
                if (answer.error) reject(new AgentError(answer.error));
                else resolve(answer.result);
            } catch (error) {
                reject(error);
            }
            socket.destroy();
        });
        socket.on("error", reject);
        socket.on("close", () => {
            clearTimeout(deadline);
            reject(new Error("the agent closed the connection before it answered"));
        });
    });
}

try {
    const token = await call("token.get", { origin: process.argv[2], min_valid_ms: 60_000 });
    // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
    console.log(`a token of ${token.access_token.length} bytes`);
} catch (error) {
    console.error(error instanceof AgentError ? `${error.kind}: ${error.message}` : error.message);
    process.exitCode = 1;
}
