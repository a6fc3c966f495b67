import ButtonModel
import Feed
import MQTTTopics

/// An engine of one of the wrong designs. It has the inputs and effects of `FeedSource`.
struct WrongEngine {
    let design: FeedDesign
    private var hello: FeedHello?
    private var leads = false
    private var cursors: [ButtonID: Int] = [:]
    private var dones: [ButtonID: Int] = [:]

    init(_ design: FeedDesign) { self.design = design }

    mutating func handle(_ input: FeedSource.Input) -> [FeedSource.Effect] {
        switch input {
        case .lead:
            leads = true
            return (hello?.buttons.keys.sorted() ?? []).flatMap { begin($0) }
        case .received(let name, let payload, _): return received(name, payload)
        case .settled(let place):
            guard design == .cursorBeforeAction else { return [] }
            dones[place.button] = place.number
            return [.publish(message(.done(place.button), done(place.number).encoded(), isRetained: true))]
        case .start, .connected, .fence, .standBy, .unhandled, .acknowledged, .refused, .reportEnded, .giveUp, .resign,
            .timerFired:
            return []
        case .disconnected:
            leads = false
            return []
        }
    }

    private mutating func received(_ name: String, _ payload: [UInt8]) -> [FeedSource.Effect] {
        guard let feed = FeedTopic(name) else { return [] }
        switch feed.kind {
        case .hello:
            guard let said = try? FeedHello(parsing: payload) else { return [] }
            let isNew = hello?.session != said.session
            hello = said
            return isNew && leads ? said.buttons.keys.sorted().flatMap { begin($0) } : []
        case .cursor(let button):
            if let claim = try? FeedCursor(parsing: payload) {
                cursors[button] = max(cursors[button] ?? 0, claim.number)
            }
            return []
        case .done(let button):
            if let done = try? FeedDone(parsing: payload) { dones[button] = max(dones[button] ?? 0, done.number) }
            return []
        case .messages(let button):
            guard let message = try? FeedMessage(parsing: payload, of: button) else { return [] }
            return received(message, of: button)
        case .want: return []
        }
    }

    private mutating func begin(_ button: ButtonID) -> [FeedSource.Effect] {
        guard design != .session else { return [] }
        let (cursor, done) = (cursors[button] ?? 0, dones[button] ?? 0)
        let want = message(.want(button), FeedWant(after: cursor).encoded(), isRetained: false)
        guard design == .cursorBeforeAction, done < cursor else { return [.publish(want)] }
        dones[button] = cursor
        return [.interrupted(place(cursor, of: button), first: done + 1), .publish(want)]
    }

    private mutating func received(_ message: FeedMessage, of button: ButtonID) -> [FeedSource.Effect] {
        guard case .steps(let steps) = message.content else { return [] }
        let took = FeedSource.Effect.took(place(message.number, of: button), steps)
        let claimed = claim(message.number, session: hello?.session ?? 0)
        let claiming = FeedSource.Effect.publish(
            self.message(.cursor(button), claimed.encoded(), isRetained: true))
        switch design {
        case .session: return [took]
        case .cursorAfterAction, .cursorBeforeAction:
            guard leads, message.number > cursors[button] ?? 0 else { return [] }
            cursors[button] = message.number
            return design == .cursorAfterAction ? [took, claiming] : [claiming, took]
        case .feed: return []
        }
    }

    private func message(_ kind: FeedTopic.Kind, _ payload: [UInt8], isRetained: Bool) -> MQTTMessage {
        MQTTMessage(topicName: topic(kind), payload: payload, qos: 1, retain: isRetained)
    }
}
