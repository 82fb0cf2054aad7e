internal import Glibc

/// Groups with one member: Debian, Fedora and others create one for each user, with the user's name.
enum PrivateGroup {
    /// Bytes of a user or group entry: a group of thousands is not private.
    private static let maxBytes = 16 << 10

    /// Whether only that user is in the group: it is the user's own group, has the user's name, lists no other member, and is
    /// no other local user's primary group (passwd(5)). An unknown group is not private.
    static func isPrivate(_ group: gid_t, of user: uid_t) -> Bool {
        guard let (name, own) = entry(ofUser: user), own == group, let (title, members) = entry(ofGroup: group) else {
            return false
        }
        return title == name && members.allSatisfy { $0 == name } && !isPrimary(group, ofOtherThan: user)
    }

    /// fgetpwent_r(3): a user whose primary group it is does not have to be among its members. True if the file
    /// cannot be read to its end; without a file there are no such users.
    static func isPrimary(
        _ group: gid_t, ofOtherThan user: uid_t, in path: String = "/etc/passwd"
    ) -> Bool {
        guard let file = unsafe fopen(path, "re") else { return errno != ENOENT }
        defer { unsafe fclose(file) }
        var found = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: maxBytes)
        var result: UnsafeMutablePointer<passwd>? = nil
        while true {
            switch unsafe fgetpwent_r(file, &found, &buffer, buffer.count, &result) {
            case 0: if unsafe found.pw_gid == group, unsafe found.pw_uid != user { return true }
            case ENOENT: return false
            default: return true
            }
        }
    }

    /// getpwuid_r(3)
    private static func entry(ofUser user: uid_t) -> (name: String, group: gid_t)? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: maxBytes) { buffer in
            var found = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>? = nil
            guard let start = buffer.baseAddress,
                unsafe getpwuid_r(user, &found, start, buffer.count, &result) == 0, unsafe result != nil,
                let name = unsafe found.pw_name
            else { return nil }
            return unsafe (String(cString: name), found.pw_gid)
        }
    }

    /// getgrgid_r(3)
    private static func entry(ofGroup group: gid_t) -> (name: String, members: [String])? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: maxBytes) { buffer in
            var found = unsafe Glibc.group()
            var result: UnsafeMutablePointer<Glibc.group>? = nil
            guard let start = buffer.baseAddress,
                unsafe getgrgid_r(group, &found, start, buffer.count, &result) == 0, unsafe result != nil,
                let name = unsafe found.gr_name
            else { return nil }
            var members: [String] = []
            var next = unsafe found.gr_mem
            while let place = unsafe next, let member = unsafe place.pointee {
                unsafe members.append(String(cString: member))
                unsafe next = place + 1
            }
            return unsafe (String(cString: name), members)
        }
    }
}
