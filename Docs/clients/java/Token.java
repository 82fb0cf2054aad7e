// java Token.java [ORIGIN]: gets an access token and prints its length. Java 16 or newer, and its standard library only.
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Timer;
import java.util.TimerTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Token {
    /** Sends one line of JSON and returns the line of the response. */
    static String call(String request, long milliseconds) throws IOException {
        String path = System.getenv("AUTHD_SOCKET");
        if (path == null || path.isEmpty()) path = System.getenv("XDG_RUNTIME_DIR") + "/authd/socket";
        Timer timer = new Timer(true);
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            timer.schedule(new TimerTask() {
                @Override public void run() {
                    // Whoever reads from it gets an exception.
                    try { channel.close(); } catch (IOException ignored) { }
                }
            }, milliseconds);
            channel.connect(UnixDomainSocketAddress.of(path));
            ByteBuffer line = StandardCharsets.UTF_8.encode(request + "\n");
            while (line.hasRemaining()) channel.write(line);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer bytes = ByteBuffer.allocate(65536);
            while (channel.read(bytes) >= 0) {
                answer.write(bytes.array(), 0, bytes.position());
                if (bytes.get(bytes.position() - 1) == '\n') return answer.toString(StandardCharsets.UTF_8);
                bytes.clear();
            }
            throw new IOException("the agent closed the connection before it answered");
        } finally {
            timer.cancel();
        }
    }

    /** Not a JSON parser: Java has none. A token has no characters that JSON escapes. Use the JSON library of your program. */
    static String token(String answer) {
        Matcher found = Pattern.compile("\"access_token\":\"([^\"\\\\]*)\"").matcher(answer);
        return found.find() ? found.group(1) : null;
    }

    public static void main(String[] arguments) {
        String origin = arguments.length > 0 ? arguments[0] : null;
        if (origin != null && !origin.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
            System.err.println("not an origin, such as https://api.example.org");
            System.exit(64);
        }
        String params = "\"min_valid_ms\":60000" + (origin == null ? "" : ",\"origin\":\"" + origin + "\"");
        try {
            String answer = call(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.get\",\"params\":{" + params + "}}", 70_000);
            String token = token(answer);
            // The error object has code, message and data.kind.
            if (token == null) throw new IOException(answer.trim());
            // Send it as `Authorization: Bearer …`; after a 401, call token.reject and get it again.
            System.out.println("a token of " + token.length() + " bytes");
        } catch (IOException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }
}
