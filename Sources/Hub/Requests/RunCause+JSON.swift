import Expressions
import JSON
import Rules

extension RunCause {
    /// The maximum length of a value in octets. If one is longer, both are left out: a value may be as long as a message, and a cut
    /// value could contain a part of a secret, which the redaction of the line would not find.
    private static let maximumLength = 256

    /// The state whose change is the cause, with its values; empty for other causes.
    var changeMembers: [JSONValue.Member] {
        guard let occasion = facts.occasion, case .state(let name, let old, let new) = occasion else { return [] }
        let isShort = max(old.utf8.count, new.utf8.count) <= RunCause.maximumLength
        let values: [JSONValue.Member] = [.init("old", .string(old)), .init("new", .string(new))]
        return [.init("state", .string(name))] + (isShort ? values : [])
    }
}
