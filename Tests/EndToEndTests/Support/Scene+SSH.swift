import TestSupport

extension Scene {
    /// A real sshd on this machine, without a port, that lets this user in.
    /// - Returns: a folder for it, and what `ssh` needs to connect, with the host.
    func prepareSSH() async throws -> (folder: String, options: String) {
        let folder = try desktop.folder.folder("ssh")
        _ = try desktop.folder.write(
            """
            HostKey \(folder)/host
            AuthorizedKeysFile \(folder)/key.pub
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            PidFile none
            StreamLocalBindUnlink yes
            """, to: "ssh/sshd_config")
        // Without a port. As root it needs an empty folder at a fixed place, so it gets a separate one.
        _ = try desktop.folder.write(
            """
            serve='exec /usr/sbin/sshd -i -e -f "$0"'
            [ "$(id -u)" = 0 ] || exec sh -c "$serve" "$1"
            exec unshare --mount sh -c "mount -t tmpfs tmpfs /run && mkdir /run/sshd && $serve" "$1"
            """, to: "ssh/serve")
        let keys = try await shell(
            "for name in key host; do ssh-keygen -q -t ed25519 -N '' -f \(folder)/$name; done")
        guard keys.status == 0 else { throw Failure(keys.err) }
        let options = """
            -F none -i \(folder)/key -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=no \
            -o UserKnownHostsFile=/dev/null -o ExitOnForwardFailure=yes -o LogLevel=ERROR \
            -o ProxyCommand="sh \(folder)/serve \(folder)/sshd_config" "$(id -un)@build.example.org"
            """
        return (folder, options)
    }
}
