import ButtonModel
import Feed

/// The presses in messages that an engine hears while it stands by or is fenced, until another engine claims them.
///
/// When a button is carried to another site, it repeats there the presses that the first site could not confirm. If the engine that
/// has handled these presses is gone by then, the next engine knows from this type that they were handled.
struct OverheardPresses: Sendable {
    private struct Key: Hashable {
        var site: String
        var button: ButtonID
    }

    private struct Message {
        var number: Int
        var events: [ButtonEvent]
    }

    /// The maximum number of messages. If one more arrives, all earlier ones are forgotten: so many messages wait only while no
    /// engine claims any.
    static let maximumCount = 4096

    private var messages: [Key: [Message]] = [:]
    private(set) var count = 0

    /// A site has sent a message, perhaps again.
    mutating func heard(_ message: FeedMessage, of button: ButtonID, from site: String) {
        guard case .steps(let steps) = message.content else { return }
        let events = steps.compactMap { step in if case .press(let event) = step { event } else { nil } }
        let key = Key(site: site, button: button)
        guard !events.isEmpty, messages[key]?.contains(where: { $0.number == message.number }) != true else { return }
        if count == Self.maximumCount { forgetAll() }
        messages[key, default: []].append(Message(number: message.number, events: events))
        count += 1
    }

    /// Another engine has claimed the messages of a button up to this number.
    ///
    /// - Returns: the presses in them, in the order of their messages.
    mutating func claimed(_ number: Int, of button: ButtonID, from site: String) -> [ButtonEvent] {
        let key = Key(site: site, button: button)
        guard let known = messages[key] else { return [] }
        let rest = known.filter { $0.number > number }
        messages[key] = rest.isEmpty ? nil : rest
        count -= known.count - rest.count
        return known.filter { $0.number <= number }.sorted { $0.number < $1.number }.flatMap(\.events)
    }

    /// Forgets the messages of a site, because it now uses their numbers for other messages.
    mutating func forget(_ site: String) {
        messages = messages.filter { $0.key.site != site }
        count = messages.values.reduce(0) { $0 + $1.count }
    }

    mutating func forgetAll() { (messages, count) = ([:], 0) }
}
