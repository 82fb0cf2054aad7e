/// Where files of access rules are.
public enum PolicyPaths {
    /// Root's rules.
    public static let root = "/etc/authd/policy.toml"
}
