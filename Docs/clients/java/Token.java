// java Token.java [ORIGIN]: for how long the session has a token. Java 16 or newer, and its standard library only.
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Token {
    /** The agent's answer is an error. */
    static class AgentError extends IOException {
        AgentError(String message) { super(message); }
    }

    /** Sends one line of JSON and returns the line of the response. A program with a JSON library parses that. */
    static String call(String request) throws IOException {
        String path = System.getenv("AUTHD_SOCKET");
        if (path == null || path.isEmpty()) path = System.getenv("XDG_RUNTIME_DIR") + "/authd/socket";
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(path));
            ByteBuffer line = StandardCharsets.UTF_8.encode(request + "\n");
            while (line.hasRemaining()) channel.write(line);
            StringBuilder answer = new StringBuilder();
            ByteBuffer bytes = ByteBuffer.allocate(65536);
            while (channel.read(bytes) >= 0) {
                answer.append(StandardCharsets.ISO_8859_1.decode(bytes.flip()));
                bytes.clear();
                if (answer.charAt(answer.length() - 1) == '\n') return answer.toString();
            }
            throw new IOException("the agent closed the connection before it answered");
        }
    }

    /** A member whose value is a string without escapes, such as a token or an error's kind. */
    static String member(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*)\"").matcher(json);
        return found.find() ? found.group(1) : null;
    }

    public static void main(String[] arguments) {
        try {
            String origin = arguments.length > 0 ? ",\"origin\":\"" + arguments[0] + "\"" : "";
            String answer = call("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{\"min_valid_ms\":60000"
                + origin + "}}");
            String token = member(answer, "access_token");
            if (token == null) throw new AgentError(member(answer, "kind") + ": " + member(answer, "message"));
            // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
            System.out.println("a token of " + token.length() + " bytes, good for a minute at least");
        } catch (IOException error) {
            System.err.println((error instanceof AgentError ? "" : "no_agent: ") + error.getMessage());
            System.exit(1);
        }
    }
}
