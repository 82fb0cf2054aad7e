import AuthModel
import Testing

@testable import AuthAgent

@Suite("The requests of a renewal under a hold")
struct HeldRequestsTests {
    @Test(
        "may have been received if they carry something of the session, unless they were certainly not sent",
        arguments: [
            (HTTPRequest(method: "POST", url: "https://api.example.com"), true),
            (HTTPRequest(method: "GET", url: "https://api.example.com"), false),
            (
                HTTPRequest(method: "GET", url: "https://api.example.com", headers: [HTTPField("cookie", "refresh=1")]),
                true
            ),
        ])
    func counted(_ request: HTTPRequest, _ counts: Bool) {
        let requests = HeldRequests { true }
        requests.began(request)
        #expect(requests.mayHaveArrived == counts)
        requests.failed(request, .timedOut(host: "api.example.com", after: .seconds(30)))
        #expect(requests.mayHaveArrived == counts)
        requests.failed(request, .connectionRefused(host: "api.example.com"))
        #expect(!requests.mayHaveArrived)
    }
}
