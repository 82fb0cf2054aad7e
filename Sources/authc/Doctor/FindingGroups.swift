/// Joins the same findings about several sessions, providers or profiles, so that the report fits on one screen.
enum FindingGroups {
    /// The names that a group lists. The others are counted.
    private static let mostNames = 3
    /// The groups of a subject and level. The findings of the others are counted.
    private static let mostGroups = 3

    private struct Key: Hashable {
        let subject: Finding.Subject
        let level: Finding.Level
        /// `nil`: the findings that are counted.
        let found: String?
    }

    /// - Returns: the findings in their order. Each group is where its first finding was.
    static func joined(_ findings: [Finding]) -> [Finding] {
        var order: [Key] = []
        var groups: [Key: [Finding]] = [:]
        for finding in findings {
            guard let item = finding.item else { continue }
            let key = Key(subject: finding.subject, level: finding.level, found: item.found)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(finding)
        }
        let extra = extraGroups(order)
        var result: [Finding] = []
        var shown: Set<Key> = []
        for finding in findings {
            guard let item = finding.item else {
                result.append(finding)
                continue
            }
            var key = Key(subject: finding.subject, level: finding.level, found: item.found)
            let isCounted = extra.contains(key)
            if isCounted { key = Key(subject: key.subject, level: key.level, found: nil) }
            guard shown.insert(key).inserted else { continue }
            if isCounted {
                let others = order.filter { extra.contains($0) && $0.subject == key.subject && $0.level == key.level }
                result.append(counted(others.flatMap { groups[$0] ?? [] }))
            } else {
                result.append(merged(groups[key] ?? []))
            }
        }
        return result
    }

    /// The groups whose findings are only counted, because there are too many of their subject and level.
    private static func extraGroups(_ order: [Key]) -> Set<Key> {
        var result: Set<Key> = []
        for key in order {
            let same = order.filter { $0.subject == key.subject && $0.level == key.level }
            guard same.count > mostGroups + 1, !same.prefix(mostGroups).contains(key) else { continue }
            result.insert(key)
        }
        return result
    }

    private static func merged(_ group: [Finding]) -> Finding {
        let first = group[0]
        guard group.count > 1, let item = first.item else { return first }
        let isSame = group.allSatisfy { $0.hint == first.hint }
        let hint =
            isSame ? first.hint : [item.hint ?? first.hint, item.list].compactMap(\.self).joined(separator: "; ")
        return replaced(first, "\(names(group.compactMap { $0.item?.name })): \(item.found)", hint)
    }

    private static func counted(_ group: [Finding]) -> Finding {
        let words = group.count == 1 ? "1 more" : "\(group.count) more"
        return replaced(group[0], "\(words): \(names(group.compactMap { $0.item?.name }))", group[0].item?.list)
    }

    private static func replaced(_ finding: Finding, _ message: String, _ hint: String?) -> Finding {
        Finding(subject: finding.subject, level: finding.level, message: message, hint: hint, status: finding.status)
    }

    /// The first names, and how many more there are.
    static func names(_ names: [String]) -> String {
        guard names.count > mostNames + 1 else { return names.joined(separator: ", ") }
        return names.prefix(mostNames).joined(separator: ", ") + " and \(names.count - mostNames) more"
    }
}
