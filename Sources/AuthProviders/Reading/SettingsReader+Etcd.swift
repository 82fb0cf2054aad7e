internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

extension SettingsReader {
    /// More members than an etcd cluster has.
    private static let maxEndpoints = 32

    /// The section `[etcd]`.
    static func etcd(_ root: TOMLSection) -> EtcdSettings? {
        guard let section = root.section("etcd") else { return nil }
        section.allow("endpoints", "ca_file", "certificate_file", "key_file", "user", "password_file", "prefix")
        var settings = EtcdSettings()
        settings.endpoints = endpoints(section)
        settings.caFile = absolutePath(section, "ca_file")
        settings.certificateFile = absolutePath(section, "certificate_file")
        settings.keyFile = absolutePath(section, "key_file")
        settings.user = section.string("user")
        settings.passwordFile = absolutePath(section, "password_file")
        for (one, other) in [("certificate_file", "key_file"), ("key_file", "certificate_file")]
        where section.has(one) && !section.has(other) {
            section.problems.add(section.path(other), expected: "a path, because \(one) is set", found: "nothing")
        }
        if section.has("password_file"), settings.user == nil {
            section.problems.add(
                section.path("user"), expected: "a user, because password_file is set", found: "nothing")
        }
        settings.prefix = section.string("prefix")
        if let prefix = settings.prefix, !EtcdSettings.isPrefix(prefix) {
            section.problems.add(
                section.path("prefix"), expected: "a path such as /authd/ada, without a / at its end", found: prefix)
        }
        return settings
    }

    private static func endpoints(_ section: TOMLSection) -> [String] {
        let urls = section.strings("endpoints") ?? []
        guard !urls.isEmpty, urls.count <= maxEndpoints else {
            section.problems.add(
                section.path("endpoints"), expected: "1 to \(maxEndpoints) URLs of etcd", found: "\(urls.count)")
            return []
        }
        let origins: [String] = urls.enumerated().compactMap { index, url in
            // With plain http another machine would get the password.
            if let origin = Origin(of: url), origin.isSecure || origin.isLoopback,
                ["", "/"].contains(String(Origin.path(of: url)))
            {
                return origin.text
            }
            section.problems.add(
                TOMLPath.element(section.path("endpoints"), index),
                expected: "https://HOST:PORT, or http on this machine", found: url)
            return nil
        }
        // `https://one` and `https://one/` name the same member; only one is kept.
        var known: Set<String> = []
        return origins.filter { known.insert($0).inserted }
    }
}
