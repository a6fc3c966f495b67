import JSON
import Rules

/// The comparison of JSON in expectations: `json` compares the whole value, `json_includes` only the keys that the test
/// names.
extension JSONValue {
    /// True if this value has all members that `wanted` has, in depth. Lists and scalars are compared whole.
    func includes(_ wanted: JSONValue) -> Bool {
        guard case .object(let members) = wanted, case .object = self else { return isSame(as: wanted) }
        return members.allSatisfy { member in self[member.name].map { $0.includes(member.value) } ?? false }
    }

    /// The differences from an expected value, one line for each key: `/level: expected 40, happened 254`.
    ///
    /// - Parameter isWhole: true if keys that are not expected are differences, too.
    func differences(from wanted: JSONValue, isWhole: Bool) -> [String] {
        var lines: [String] = []
        addDifferences(from: wanted, isWhole, "", &lines)
        return lines
    }

    private func addDifferences(from wanted: JSONValue, _ isWhole: Bool, _ path: String, _ lines: inout [String]) {
        guard case .object(let wantedMembers) = wanted, case .object(let members) = self else {
            if !isSame(as: wanted) {
                lines.append("\(path.isEmpty ? "the value" : path): expected \(wanted), happened \(self)")
            }
            return
        }
        for member in wantedMembers {
            let inner = "\(path)/\(member.name)"
            if let value = self[member.name] {
                value.addDifferences(from: member.value, isWhole, inner, &lines)
            } else {
                lines.append("\(inner): expected \(member.value), and is absent")
            }
        }
        guard isWhole else { return }
        for member in members where wanted[member.name] == nil {
            lines.append("\(path)/\(member.name): not expected, happened \(member.value)")
        }
    }
}

extension ExpectedContent {
    /// The lines that explain how JSON differs from this expectation; empty for text, and for octets that are no JSON.
    func differences(of octets: [UInt8]) -> [String] {
        switch self {
        case .text: return []
        case .json(let wanted):
            guard let value = try? JSONValue(parsing: octets), !value.isSame(as: wanted) else { return [] }
            return value.differences(from: wanted, isWhole: true)
                + ["json is compared whole; for a part write json_includes"]
        case .jsonIncluding(let wanted):
            guard let value = try? JSONValue(parsing: octets), !value.includes(wanted) else { return [] }
            return value.differences(from: wanted, isWhole: false)
        }
    }
}
