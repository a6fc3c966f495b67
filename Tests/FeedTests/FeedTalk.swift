import ButtonModel
import Feed
import MQTTTopics
import TestSupport

extension FeedUplink: StateMachine {}
extension FeedSource: StateMachine {}

let hall = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))
let attic = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0002))

/// The base topic of the site in these tests, and its installation.
let berlin = "tryck/berlin7"
let life = "9f3c"
let secondLife = "9f3c.2"

func topic(_ kind: FeedTopic.Kind, of site: String = berlin) -> String { FeedTopic(site, kind).description }

func facts(last: Int = 0, claimed: Int = 0, done: Int? = nil, former: FeedFormer? = nil) -> FeedHello.Button {
    FeedHello.Button(
        serial: "BA00-A00001", model: .flic2, name: "Hall", firmware: 11, last: last, claimed: claimed,
        done: done ?? claimed, former: former)
}

func hello(session: Int = 1, term: Int = 0, life: String = life, _ buttons: [ButtonID: FeedHello.Button]) -> FeedHello {
    FeedHello(site: "berlin7", installation: life, session: session, term: term, buttons: buttons)
}

/// A `down` with the number of its message as its counter.
func down(_ number: Int, of button: ButtonID = hall, age: Duration = .zero, queued: Bool = false) -> FeedStep {
    .press(
        ButtonEvent(
            button: button, bootID: 7, counter: UInt32(number), step: .down, ticks: 1000, wasQueued: queued, age: age))
}

func entry(_ number: Int, of button: ButtonID = hall, at instant: Instant) -> FeedEntry {
    FeedEntry(number: number, receivedAt: instant, steps: [down(number, of: button)])
}

func message(_ number: Int, of button: ButtonID = hall, age: Duration = .zero) -> FeedMessage {
    FeedMessage(number: number, previous: number - 1, content: .steps([down(number, of: button, age: age)]))
}

func lost(after previous: Int, to number: Int) -> FeedMessage {
    FeedMessage(number: number, previous: previous, content: .lost)
}

func claim(_ number: Int, term: Int = 1, engine: String = "a1", life: String = life, session: Int = 1) -> FeedCursor {
    FeedCursor(number: number, term: term, engine: engine, installation: life, session: session)
}

func done(_ number: Int, term: Int = 1, life: String = life) -> FeedDone {
    FeedDone(number: number, term: term, installation: life)
}

func place(_ number: Int, of button: ButtonID = hall, life: String = life) -> FeedPlace {
    FeedPlace(site: berlin, button: button, installation: life, number: number)
}

private func publication(_ kind: FeedTopic.Kind, _ payload: [UInt8], isRetained: Bool) -> MQTTMessage {
    MQTTMessage(topicName: topic(kind), payload: payload, qos: 1, retain: isRetained)
}

extension FeedUplink.Input {
    static func claim(_ claim: FeedCursor, of button: ButtonID = hall) -> Self {
        .received(topicName: topic(.cursor(button)), payload: claim.encoded())
    }

    static func done(_ done: FeedDone, of button: ButtonID = hall) -> Self {
        .received(topicName: topic(.done(button)), payload: done.encoded())
    }

    /// - Parameter session: `nil` for an engine that does not name the hello that it answers.
    static func want(after number: Int, of button: ButtonID = hall, session: Int? = nil, life: String? = nil) -> Self {
        let want = FeedWant(after: number, session: session, installation: life)
        return .received(topicName: topic(.want(button)), payload: want.encoded())
    }

    static func hello(_ hello: FeedHello) -> Self { .received(topicName: topic(.hello), payload: hello.encoded()) }
}

extension FeedUplink.Effect {
    static func hello(_ hello: FeedHello) -> Self {
        .publish(publication(.hello, hello.encoded(), isRetained: true), expiry: nil)
    }

    static func message(_ message: FeedMessage, of button: ButtonID = hall) -> Self {
        .publish(publication(.messages(button), message.encoded(), isRetained: false), expiry: .seconds(3600))
    }
}

extension FeedSource.Input {
    static func hello(_ hello: FeedHello) -> Self {
        .received(topicName: topic(.hello), payload: hello.encoded(), brokerAge: .zero)
    }

    /// The will of the site's connection.
    static let helloEmptied = Self.received(topicName: topic(.hello), payload: [], brokerAge: .zero)

    static func message(_ message: FeedMessage, of button: ButtonID = hall, brokerAge: Duration = .zero) -> Self {
        .received(topicName: topic(.messages(button)), payload: message.encoded(), brokerAge: brokerAge)
    }

    static func claim(_ claim: FeedCursor, of button: ButtonID = hall) -> Self {
        .received(topicName: topic(.cursor(button)), payload: claim.encoded(), brokerAge: .zero)
    }

    static func done(_ done: FeedDone, of button: ButtonID = hall) -> Self {
        .received(topicName: topic(.done(button)), payload: done.encoded(), brokerAge: .zero)
    }
}

extension FeedSource.Effect {
    static func claim(_ claim: FeedCursor, of button: ButtonID = hall) -> Self {
        .publish(publication(.cursor(button), claim.encoded(), isRetained: true))
    }

    static func done(_ done: FeedDone, of button: ButtonID = hall) -> Self {
        .publish(publication(.done(button), done.encoded(), isRetained: true))
    }

    static func want(after number: Int, of button: ButtonID = hall, session: Int = 1, life: String = life) -> Self {
        let want = FeedWant(after: number, session: session, installation: life)
        return .publish(publication(.want(button), want.encoded(), isRetained: false))
    }

    static func record(_ claim: FeedCursor, done: Int, of button: ButtonID = hall) -> Self {
        .record(FeedPosition(site: berlin, button: button, claim: claim, done: done))
    }
}
