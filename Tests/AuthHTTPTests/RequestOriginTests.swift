import AuthModel
import FoundationEssentials
import Testing

@testable import AuthHTTP

@Suite struct RequestOriginTests {
    @Test(arguments: [
        "https://a.example", "HTTPS://A.example:443/x?y#z", "https://a.example./x", "http://a.example:08080/@b:1",
        "http://[::1]:8080/x", "http://[2001:DB8::A]?q=://b", "http://127.1/", "http://localhost.:80#@b.example",
    ])
    func `a request goes to the host and port that its origin has`(url: String) throws {
        let origin = try Origin(sending: url)
        let read = try #require(URL(string: url))
        let host = try #require(read.host(percentEncoded: true)).lowercased()
        #expect(["\(origin.host)", "\(origin.host).", "[\(origin.host)]"].contains(host))
        #expect((read.port ?? (origin.isSecure ? 443 : 80)) == origin.port)
        #expect(read.scheme?.lowercased() == (origin.isSecure ? "https" : "http") && read.user == nil)
    }
}
