import ButtonModel

/// Synchronises the name that the owner chose with the name that the button stores.
///
/// | outstanding | on                            | becomes | and we                                                |
/// |-------------|-------------------------------|---------|-------------------------------------------------------|
/// | none        | a name request may be sent    | get     | ask what the button holds                             |
/// | none        | the same, a name waits        | set     | send it                                               |
/// | get, set    | its response                  | none    | adopt what the button holds                           |
/// | get, set    | its response, a name waits    | none    | request another name request                          |
/// | get, set    | no answer in time             | none    | drop the name; the application keeps it as pending    |
/// | get, set    | the session ends              | none    | keep the name for the next one                        |
/// | none, get   | NameUpdatedNotification       | as is   | adopt the name, unless a name of ours waits           |
///
/// The name in a response is always adopted: the button compares the times, and keeps its own name if it is newer.
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
        /// The name was chosen during this session, so the button must take it even if its own name is newer.
        var isForced: Bool
    }

    private var waiting: Wish?
    private var outstanding = Outstanding.none

    /// - Parameter pending: a name chosen before this session; the button may have a newer one.
    init(pending: Nickname?) { waiting = pending.map { Wish(nickname: $0, isForced: false) } }

    /// Requests a new name, which replaces a name that is still waiting.
    mutating func choose(_ nickname: Nickname) { waiting = Wish(nickname: nickname, isForced: true) }

    /// The name request to send now.
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
        /// A newer name is waiting, so another request is needed.
        case again
        /// The response does not match the outstanding request.
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

    /// - Returns: the name to adopt; `nil` if a name of ours is waiting or being set.
    func updated(_ name: [UInt8]) -> String? {
        switch outstanding {
        case .none, .get: waiting == nil ? Self.text(name) : nil
        case .set: nil
        }
    }

    /// - Returns: the name of the packet that was not answered.
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
