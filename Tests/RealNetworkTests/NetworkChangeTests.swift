import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent on a laptop whose cable, routes, addresses and names change.
@Suite("Networks that come and go", .serialized, .timeLimit(.minutes(2)))
struct NetworkChangeTests {
    @Test(
        "case 3: a network outage longer than the token's life is not a sign-out, and the session returns in seconds"
    )
    func linkDownAndUp() async throws {
        try await NetworkLab.play { lab, _ in
            var times: [Duration] = []
            for _ in 1...3 {
                try lab.setLife(seconds: 2)
                let refreshed = try await lab.authc("refresh")
                try #require(refreshed.status == 0, "\(refreshed.err) \(lab.provider.out.text)")
                try await lab.onGateway("ip link set far down")
                let away = try await lab.watch()
                #expect(await away.out.wait(for: #""state":"stale","cause":"offline""#))
                await away.end()
                try lab.setLife(seconds: 3600)
                let back = try await lab.watch()
                try await lab.onGateway("ip link set far up")
                let start = ContinuousClock.now
                #expect(await back.out.wait(for: #""state":"active""#))
                times.append(ContinuousClock.now - start)
                await back.end()
            }
            print("network back to active:", times.sorted())
            // A second of settling, a probe, at most half a second of jitter, a renewal; the rest is for a busy machine.
            #expect(times.sorted()[1] < .seconds(6))
            #expect(!lab.provider.out.text.contains("REUSED"))
        }
    }

    @Test("case 19: while offline, callers get an error at once, with 75, and no packet is sent")
    func offline() async throws {
        try await NetworkLab.play { lab, _ in
            try lab.setLife(seconds: 2)
            #expect(try await lab.authc("refresh").status == 0)
            let watch = try await lab.watch()
            try await lab.onGateway("ip link set far down")
            #expect(await watch.out.wait(for: #""state":"stale","cause":"offline""#))
            try await lab.onLaptop(
                "nft 'add table inet t; add chain inet t o { type filter hook output priority 0; }; "
                    + "add rule inet t o oifname \"near\" meta l4proto { tcp, udp } counter'")
            for command in ["token", "refresh", "token"] {
                let output = try await lab.authc(command)
                #expect(output.status == 75 && output.err.contains("offline"), "\(output.err)")
            }
            let login = try await lab.authc(
                "login", "lab", "-s", "other", "--field", "email=ada@example.org", "--password-stdin",
                input: "Correct-horse1")
            #expect(login.status == 75, "\(login.err)")
            let doctor = try await lab.authc("doctor")
            #expect(doctor.status == 75 && doctor.out.contains("offline: this machine has no network"), "\(doctor.out)")
            #expect(try await lab.network().state == .offline)
            #expect(try await lab.onLaptop("nft list ruleset").contains("counter packets 0 bytes 0"))
            await watch.end()
        }
    }

    @Test("case 4: after a change of address the next call uses a new connection")
    func addressChanges() async throws {
        try await NetworkLab.play { lab, _ in
            let watch = try await lab.watch()
            try await lab.onLaptop(
                "ip addr flush dev near && ip addr add 10.2.0.1/24 dev near && ip route add default via 10.2.0.2")
            // The probe of the new network comes from the new address, without credentials.
            #expect(await lab.provider.out.wait(for: "GET /me 401 bare from 10.2.0.1"))
            #expect(try await lab.authc("refresh").status == 0)
            #expect(await lab.provider.out.wait(for: "POST /refresh 200 full from 10.2.0.1"))
            #expect(try await lab.network().providers["lab"] == "reachable")
            await watch.end()
        }
    }

    @Test("a missing default route is reported, and nothing is lost when it returns")
    func routeGone() async throws {
        try await NetworkLab.play { lab, _ in
            let gone = try await lab.watch()
            let lines = try await lab.networkLines()
            #expect(await lines.out.wait(for: " online"))
            try await lab.onLaptop("ip route del default")
            #expect(await gone.out.wait(for: #""providers":{"lab":"offline"}"#))
            #expect(try await lab.network().state == .limited)
            #expect(try await lab.authc("token").status == 0)
            let back = try await lab.watch()
            try await lab.onLaptop("ip route add default via 10.1.0.2")
            #expect(await back.out.wait(for: #""providers":{"lab":"reachable"}"#))
            #expect(try await lab.network().state == .online)
            // The output of `authc watch`: one line for each change.
            #expect(await lines.out.wait(for: " limited, lab offline"))
            #expect(await lines.out.wait(for: " online, lab reachable"))
            for watch in [gone, back, lines] { await watch.end() }
        }
    }

    @Test("names that do not resolve are reported, are not a sign-out, and the session returns when they do")
    func namesBlackHoled() async throws {
        try await NetworkLab.play(
            { lab, _ in
                try lab.setLife(seconds: 2)
                #expect(try await lab.authc("refresh").status == 0)
                let away = try await lab.watch()
                // Another network, whose name server never answers.
                try await lab.onLaptop(
                    "echo 127.0.0.1 localhost >/etc/hosts && ip addr add 10.1.0.7/24 dev near && "
                        + "printf 'nameserver 10.77.0.53\\noptions timeout:1 attempts:1\\n' >/etc/resolv.conf")
                #expect(await away.out.wait(for: #""state":"stale""#))
                let token = try await lab.authc("token")
                #expect(token.status == 75 && token.err.contains("lab.test could not be resolved"), "\(token.err)")
                await away.end()
                try lab.setLife(seconds: 3600)
                let back = try await lab.watch()
                try await lab.onLaptop("echo '\(NetworkLab.address) lab.test' >>/etc/hosts")
                #expect(await back.out.wait(for: #""state":"active""#))
                await back.end()
                #expect(!lab.provider.out.text.contains("REUSED"))
            }, name: "lab.test")
    }

    @Test("a provider behind a VPN is unreachable while the rest is online")
    func behindVPN() async throws {
        try await NetworkLab.play { lab, agent in
            try await lab.onGateway("ip addr add 10.88.0.1/32 dev lo")
            let life = lab.folder.path + "/life"
            let inner = try await lab.serve("provider", "10.88.0.1", life)
            try lab.addProvider("inner", at: "http://10.88.0.1:\(inner.port)")
            agent.kill(SIGHUP)
            #expect(await agent.err.wait(for: "provider inner is new"))
            try await lab.signIn("inner")
            let down = try await lab.watch()
            // The VPN ends: its address is not routed any more, and the machine's route changes with it.
            try await lab.onGateway("ip addr del 10.88.0.1/32 dev lo")
            try await lab.onLaptop(
                "ip route replace default via 10.1.0.2 src 10.1.0.1 && ip addr add 10.1.0.9/24 dev near")
            #expect(await down.out.wait(for: #""inner":"provider_unreachable","lab":"reachable""#))
            #expect(try await lab.network().state == .online)
            #expect(try await lab.authc("refresh", "-s", "lab").status == 0)
            let doctor = try await lab.authc("doctor")
            #expect(doctor.status == 75 && doctor.out.contains("inner: provider unreachable"), "\(doctor.out)")
            await down.end()
            await inner.server.end()
        }
    }

    @Test("thirty of a hundred packets lost: renewals are slower, and none is lost")
    func loss() async throws {
        try await NetworkLab.play { lab, _ in
            let lossy =
                "add table inet t; add chain inet t h { type filter hook HOOK priority 0; }; "
                + "add rule inet t h meta l4proto tcp numgen random mod 10 < 3 drop"
            try await lab.onLaptop("nft '\(lossy.replacing("HOOK", with: "output"))'")
            for _ in 1...4 {
                let refresh = try await lab.authc("refresh", "--timeout", "60s")
                #expect([0, 75].contains(refresh.status), "\(refresh.err)")
            }
            try await lab.onLaptop("nft flush ruleset")
            #expect(try await lab.authc("refresh", "--timeout", "60s").status == 0)
            #expect(!lab.provider.out.text.contains("REUSED"))
        }
    }

    @Test("case 16: a provider that is two seconds late delays only its own callers")
    func slow() async throws {
        try await NetworkLab.play { lab, agent in
            let slow = try await lab.serve("slow", NetworkLab.address, "\(lab.port)", "2")
            try lab.addProvider("slow", at: "http://\(NetworkLab.address):\(slow.port)")
            agent.kill(SIGHUP)
            #expect(await agent.err.wait(for: "provider slow is new"))
            try await lab.signIn("slow")
            async let late = lab.authc("refresh", "-s", "slow")
            let start = ContinuousClock.now
            for _ in 1...3 { #expect(try await lab.authc("refresh", "-s", "lab").status == 0) }
            let prompt = ContinuousClock.now - start
            #expect(try await late.status == 0)
            #expect(prompt < ContinuousClock.now - start)
            await slow.server.end()
        }
    }
}
