import AuthWire
import TestSupport
import Testing

@Suite("Captive portals", .serialized, .timeLimit(.minutes(2)))
struct PortalTests {
    @Test("a portal gets only probes, is reported, and the agent continues afterwards without a request")
    func portal() async throws {
        try await NetworkLab.play { lab, _ in
            let portal = try await lab.serve("portal", "0.0.0.0")
            try lab.setLife(seconds: 2)
            #expect(try await lab.authc("refresh").status == 0)
            // Another network: requests to the provider reach the portal.
            try await lab.onGateway(
                "ip link set far down && nft 'add table ip n; add chain ip n p { type nat hook prerouting priority -100; }; "
                    + "add rule ip n p ip daddr \(NetworkLab.address) tcp dport \(lab.port) redirect to :\(portal.port)' && "
                    + "ip addr add 10.1.0.4/24 dev far && ip link set far up")
            let readings = try await lab.watch()
            try await lab.onLaptop("ip addr add 10.1.0.5/24 dev near")
            #expect(await readings.out.wait(for: #""state":"portal""#))
            #expect(await readings.out.wait(for: #""cause":"captive_portal""#))
            for command in ["token", "refresh"] {
                let output = try await lab.authc(command)
                #expect(output.status == 75 && output.err.contains("requires a sign-in"), "\(output.err)")
            }
            let doctor = try await lab.authc("doctor")
            #expect(doctor.status == 75 && doctor.out.contains("the network shows its sign-in page"), "\(doctor.out)")
            await readings.end()
            try lab.setLife(seconds: 3600)
            let passed = try await lab.watch()
            // The user signs in to the portal: no link, address or route of the laptop changes.
            try await lab.onGateway("nft flush ruleset")
            #expect(await passed.out.wait(for: #""state":"active""#))
            #expect(try await lab.network().state == .online)
            await passed.end()
            await portal.server.end()
            let seen = portal.server.out.text
            #expect(seen.contains("carried nothing") && !seen.contains("SECRETS"), "\(seen)")
        }
    }

    @Test("over HTTPS a portal is detected by its certificate, and gets no request for a page")
    func foreignCertificate() async throws {
        try await NetworkLab.play(
            { lab, _ in
                let portal = try await lab.serve("portal", "0.0.0.0", lab.folder.path + "/other.pem")
                try lab.setLife(seconds: 2)
                #expect(try await lab.authc("refresh").status == 0)
                try await lab.onGateway(
                    "nft 'add table ip n; add chain ip n p { type nat hook prerouting priority -100; }; "
                        + "add rule ip n p ip daddr \(NetworkLab.address) tcp dport \(lab.port) redirect to :\(portal.port)'"
                )
                let readings = try await lab.watch()
                try await lab.onLaptop("ip addr add 10.1.0.5/24 dev near")
                #expect(await readings.out.wait(for: #""state":"portal""#))
                #expect(try await lab.authc("refresh").status == 75)
                await readings.end()
                try lab.setLife(seconds: 3600)
                let passed = try await lab.watch()
                try await lab.onGateway("nft flush ruleset")
                #expect(await passed.out.wait(for: #""state":"active""#))
                await passed.end()
                await portal.server.end()
                #expect(portal.server.out.text.split(separator: "\n").count == 1, "\(portal.server.out.text)")
            }, isSecure: true)
    }
}
