import ButtonModel

/// The name of a button and the one its owner wants, until they are the same.
///
/// | outstanding | on                            | becomes | and we                                                |
/// |-------------|-------------------------------|---------|-------------------------------------------------------|
/// | none        | a name request may be sent    | get     | ask what the button holds                             |
/// | none        | the same, a name waits        | set     | send it                                               |
/// | get, set    | its response                  | none    | adopt what the button holds                           |
/// | get, set    | its response, a newer waits   | none    | ask for another request                               |
/// | get, set    | no answer in time             | none    | leave the name to its owner, who keeps it as pending  |
/// | get, set    | the session ends              | none    | keep the name for the next one                        |
/// | none, get   | the button tells of a new one | as is   | adopt it, unless one of ours waits                    |
///
/// What a button answers always holds: it alone compares the times, and a name that is newer than ours stays.
///
/// - Source: protocol notes, 6.8.
struct NameExchange: Sendable {
    private enum Outstanding: Sendable {
        case none
        case get
        case set(Wish)
    }

    private struct Wish: Sendable {
        var nickname: Nickname
        /// Chosen while we were there to hear it: the button takes it, whatever its own is from.
        var isForced: Bool
    }

    private var waiting: Wish?
    private var outstanding = Outstanding.none

    /// - Parameter pending: chosen before this session; the button may know of a newer one.
    init(pending: Nickname?) { waiting = pending.map { Wish(nickname: $0, isForced: false) } }

    /// Replaces a name that is still waiting.
    mutating func choose(_ nickname: Nickname) { waiting = Wish(nickname: nickname, isForced: true) }

    /// What to send now that a request may be sent.
    mutating func next() -> HostPacket {
        guard let wish = waiting else {
            outstanding = .get
            return .getNameRequest
        }
        waiting = nil
        outstanding = .set(wish)
        return .setNameRequest(
            .init(
                timestamp: wish.nickname.chosenAt, isForced: wish.isForced, name: Array(wish.nickname.text.utf8)))
    }

    enum Answer: Hashable, Sendable {
        case adopt(String)
        /// A newer name waits: another request is needed.
        case again
        /// Not what was asked for.
        case unexpected
    }

    mutating func answered(_ name: [UInt8], isSet: Bool) -> Answer {
        switch (outstanding, isSet) {
        case (.get, false), (.set, true):
            outstanding = .none
            return waiting == nil ? .adopt(Self.text(name)) : .again
        case (.none, _), (.get, true), (.set, false):
            return .unexpected
        }
    }

    /// - Returns: the name to adopt, if it is.
    func updated(_ name: [UInt8]) -> String? {
        switch outstanding {
        case .none, .get: waiting == nil ? Self.text(name) : nil
        case .set: nil
        }
    }

    /// - Returns: the name of the request that was not answered.
    mutating func unanswered() -> String {
        defer { outstanding = .none }
        return if case .set = outstanding { "SetNameRequest" } else { "GetNameRequest" }
    }

    mutating func sessionEnded() {
        if case .set(let wish) = outstanding, waiting == nil { waiting = wish }
        outstanding = .none
    }

    private static func text(_ name: [UInt8]) -> String {
        String(decoding: name.prefix(Nickname.maximumLength), as: UTF8.self)
    }
}
