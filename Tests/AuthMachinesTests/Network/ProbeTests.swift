import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Probe")
struct ProbeTests {
    @Test("it carries no credentials, follows no redirect, and ends after three seconds")
    func request() {
        let request = Probe(NetworkBench.plain, path: "/v1/me").request
        #expect(request.method == "GET" && request.url == "http://api.example.net/v1/me" && request.body == nil)
        #expect(!request.headers.contains { ["authorization", "cookie"].contains($0.name.lowercased()) })
        #expect(!request.followsRedirects && request.limit == .seconds(3))
        #expect(Probe(NetworkBench.secure, path: "/v1/me").request.url == "https://api.example.org/")
    }

    @Test(
        "over HTTPS the host that responds has the certificate, whatever the response",
        arguments: [200, 302, 404, 500, 511])
    func proven(status: Int) {
        let page = HTTPResponse(status: status, headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
        #expect(Probe(NetworkBench.secure).reading(page) == .reached(isProven: true))
    }

    @Test("over plain HTTP a page, a way elsewhere, and a network's own status are a portal's")
    func pages() {
        let probe = Probe(NetworkBench.plain, path: "/me")
        func reply(_ status: Int, _ type: String, _ body: String = "", to location: String? = nil) -> Reachability {
            let headers = [("Content-Type", type)] + (location.map { [("Location", $0)] } ?? [])
            return probe.reading(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
        }
        #expect(reply(200, "text/html; charset=utf-8", "<html>") == .page)
        #expect(reply(511, "application/json") == .page)
        #expect(reply(302, "text/plain", to: "http://login.hotel.example/") == .page)
        #expect(probe.reading(.redirected(toOrigin: "http://login.hotel.example")) == .page)
        #expect(reply(401, "application/json", "{}") == .reached(isProven: false))
        #expect(reply(404, "text/html", "<html>") == .reached(isProven: false))
        #expect(reply(302, "text/plain", to: "/login") == .reached(isProven: false))
        #expect(probe.reading(.redirected(toOrigin: "https://api.example.net")) == .reached(isProven: false))
    }

    @Test("a probe without a response has a reason")
    func failures() {
        let probe = Probe(NetworkBench.secure)
        #expect(probe.reading(.certificate(host: "h", reason: "other name")) == .foreignCertificate)
        let unreached: [(TransportError, ErrorKind, String)] = [
            (.nameNotResolved(host: "h"), .providerUnreachable, "name_not_resolved"),
            (.connectionRefused(host: "h"), .providerUnreachable, "connection_refused"),
            (.timedOut(host: "h", after: .seconds(3)), .providerUnreachable, "timed_out"),
            (.offline(reason: "no route"), .offline, "offline"),
        ]
        for (error, kind, cause) in unreached { #expect(probe.reading(error) == .unreached(kind, cause: cause)) }
    }
}
