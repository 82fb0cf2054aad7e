import StandInBackends
import TestSupport
import Testing

@Suite("Another store in the settings", .serialized, .timeLimit(.minutes(5)))
struct StoreChangeTests {
    @Test("the commands that are printed lead to a sign-in in sealed files")
    func sealedFiles() async throws {
        try await BootedMachine.play { machine in
            // Its socket starts the agent, which would otherwise read the changed settings first.
            #expect(try await machine.authc("list").status == 0)
            let changed = try await machine.authc("config", "set", "store", "sealed-file")
            let text = "store has changed and needs a restart: `authc agent restart`"
            #expect(changed.status == 0 && changed.err.contains(text), "\(changed)")
            let doctor = try await machine.authc("doctor")
            #expect(doctor.out.contains("restart authd to apply the change: `authc agent restart`"), "\(doctor)")

            #expect(try await machine.authc("agent", "restart").status == 0)
            let unlocked = try await machine.authc(
                "store", "unlock", "--passphrase-stdin", input: "correct horse battery")
            #expect(unlocked.status == 0, "\(unlocked)")
            try await machine.signIn()
            let after = try await machine.authc("doctor")
            #expect(after.out.contains("sealed-file is open") && !after.out.contains("restart authd"), "\(after)")
            let restart = try await machine.authc("version", "--json")
            #expect(restart.out.contains(#""restart":{"unit":"authd.service","obstacle":"passphrase"}"#), "\(restart)")
        }
    }
}
