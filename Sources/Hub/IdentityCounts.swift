import ButtonModel

/// How many buttons have each nickname and each serial number. An engine asks for each button of its sites whether another
/// button has the same ones. With these counts, the time for an answer does not depend on the number of buttons.
struct IdentityCounts: Hashable, Sendable {
    private var nicknames: [String: Int] = [:]
    private var serials: [String: Int] = [:]

    mutating func add(_ identity: ButtonIdentity) { change(identity, by: 1) }
    mutating func remove(_ identity: ButtonIdentity) { change(identity, by: -1) }

    /// - Parameter identity: the button that asks, which does not count; `nil` for a button that is not known yet.
    func isNicknameTaken(_ nickname: String, byOtherThan identity: ButtonIdentity?) -> Bool {
        nicknames[nickname, default: 0] > (identity?.nickname == nickname ? 1 : 0)
    }

    func isSerialTaken(_ serial: String) -> Bool { serials[serial] != nil }

    private mutating func change(_ identity: ButtonIdentity, by step: Int) {
        Self.change(&nicknames, identity.nickname, by: step)
        Self.change(&serials, identity.serial, by: step)
    }

    private static func change(_ counts: inout [String: Int], _ text: String, by step: Int) {
        guard !text.isEmpty else { return }
        let count = counts[text, default: 0] + step
        counts[text] = count > 0 ? count : nil
    }
}
