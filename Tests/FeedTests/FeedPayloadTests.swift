import ButtonModel
import JSON
import TestSupport
import Testing

@testable import Feed

@Suite("Payloads of the feed")
struct FeedPayloadTests {
    @Test("a message is written as the design shows it")
    func text() {
        let event = ButtonEvent(
            button: hall, bootID: 7, counter: 147, step: .down, ticks: 4096, age: .milliseconds(12), part: .big)
        let message = FeedMessage(number: 5120, previous: 5119, content: .steps([.press(event)]))
        #expect(
            String(decoding: message.encoded(), as: UTF8.self) == """
                {"n":5120,"prev":5119,"boot":7,"count":147,"part":"big","step":"down","ticks":4096,"age_ms":12,"queued":false}
                """)
        #expect(
            String(decoding: lost(after: 5103, to: 5120).encoded(), as: UTF8.self)
                == #"{"n":5120,"prev":5103,"lost":17}"#)
        #expect(
            String(decoding: claim(5120, term: 31, session: 812).encoded(), as: UTF8.self)
                == #"{"n":5120,"term":31,"engine":"a1","installation":"9f3c","session":812}"#)
        #expect(
            String(decoding: done(5118, term: 31).encoded(), as: UTF8.self)
                == #"{"n":5118,"term":31,"installation":"9f3c"}"#)
        #expect(String(decoding: FeedWant(after: 5118).encoded(), as: UTF8.self) == #"{"after":5118}"#)
        #expect(
            String(decoding: FeedWant(after: 5118, session: 812, installation: "9f3c.2").encoded(), as: UTF8.self)
                == #"{"after":5118,"session":812,"installation":"9f3c.2"}"#)
        #expect(
            String(decoding: hello(session: 812, term: 31, [hall: facts(last: 9, claimed: 8)]).encoded(), as: UTF8.self)
                == """
                {"v":1,"site":"berlin7","installation":"9f3c","session":812,"term":31,"buttons":{"80e4da000001":\
                {"serial":"BA00-A00001","model":"flic2","name":"Hall","firmware":11,"n":9,"claimed":8,"done":8}}}
                """)
    }

    @Test("the installation of a site says which life it is")
    func lives() {
        #expect(FeedLife("9f3c") == FeedLife(root: "9f3c", number: 1))
        #expect(FeedLife("9f3c.12") == FeedLife(root: "9f3c", number: 12))
        for other in ["9f3c.1", "9f3c.02", "9f3c.", "9f3c.2.3", "9f3c.1048577", "9f3c.-2", ""] {
            #expect(FeedLife(other) == FeedLife(root: other, number: 1))
        }
        for number in [1, 2, 1 << 20] {
            #expect(FeedLife(FeedLife(root: "9f3c", number: number).installation).number == number)
        }
    }

    @Test("what is written is read again", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let message = FeedMessage.random(of: hall, using: &random)
        #expect(try FeedMessage(parsing: message.encoded(), of: hall) == message)
        let hello = FeedHello.random(using: &random)
        #expect(try FeedHello(parsing: hello.encoded()) == hello)
        let claim = claim(.random(in: 1...1 << 53, using: &random), term: .random(in: 0...1 << 53, using: &random))
        #expect(try FeedCursor(parsing: claim.encoded()) == claim)
        let done = done(.random(in: 0...1 << 53, using: &random))
        #expect(try FeedDone(parsing: done.encoded()) == done)
        let isBare = Bool.random(using: &random)
        let want = FeedWant(
            after: .random(in: 0...1 << 53, using: &random),
            session: isBare ? nil : .random(in: 0...1 << 53, using: &random), installation: isBare ? nil : "9f3c.2")
        #expect(try FeedWant(parsing: want.encoded()) == want)
    }

    @Test(
        "a payload that is cut anywhere or has wrong octets is refused or read, and never stops the program",
        arguments: 0..<50 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for payload in [
            FeedMessage.random(of: hall, using: &random).encoded(), FeedHello.random(using: &random).encoded(),
            claim(3).encoded(), done(3).encoded(), FeedWant(after: 3).encoded(), random.bytes(40),
        ] {
            let cuts = (0..<payload.count).filter { (try? readAll(Array(payload.prefix($0)))) != nil }
            #expect(cuts.isEmpty, "cut after these octets it was read: \(cuts)")
            for _ in 0..<50 {
                var changed = payload
                for _ in 0..<3 {
                    changed[.random(in: 0..<changed.count, using: &random)] =
                        "0123456789-eE.{}[]\",:tn\u{0}".utf8
                        .randomElement(using: &random) ?? 0
                }
                _ = try? readAll(changed)
            }
        }
    }

    /// Reads a payload as each kind; fails if all fail.
    private func readAll(_ payload: [UInt8]) throws(FeedPayloadFailure) {
        let isRead =
            (try? FeedHello(parsing: payload)) != nil || (try? FeedMessage(parsing: payload, of: hall)) != nil
            || (try? FeedCursor(parsing: payload)) != nil || (try? FeedDone(parsing: payload)) != nil
        if !isRead { _ = try FeedWant(parsing: payload) }
    }

    @Test(
        "numbers that cannot be are refused",
        arguments: [
            #"{"n":0,"prev":0,"boot":7,"count":1,"step":"down","ticks":0,"age_ms":0}"#: FeedPayloadFailure.invalid("n"),
            #"{"n":2,"prev":2,"boot":7,"count":1,"step":"down","ticks":0,"age_ms":0}"#: .invalid("prev"),
            #"{"n":3,"prev":1,"boot":7,"count":1,"step":"down","ticks":0,"age_ms":0}"#: .invalid("prev"),
            #"{"n":9007199254740993,"prev":0,"lost":1}"#: .invalid("n"),
            #"{"n":3,"prev":1,"lost":3}"#: .invalid("lost"),
            #"{"n":3,"prev":1,"lost":-2}"#: .invalid("lost"),
            #"{"n":1,"prev":0,"boot":7,"count":4294967296,"step":"down","ticks":0,"age_ms":0}"#: .invalid("count"),
            #"{"n":1,"prev":0,"boot":7,"count":1,"step":"down","ticks":-1,"age_ms":0}"#: .invalid("ticks"),
            #"{"n":1,"prev":0,"boot":7,"count":1,"step":"down","ticks":0,"age_ms":-1}"#: .invalid("age_ms"),
            #"{"n":1,"prev":0,"boot":7,"count":1,"step":"sideways","ticks":0,"age_ms":0}"#: .invalid("step"),
            #"{"n":1,"prev":0,"count":1,"step":"down","ticks":0,"age_ms":0}"#: .missing("boot"),
            #"{"n":1,"prev":0,"boot":7,"steps":[]}"#: .invalid("steps"),
            #"{"n":1.5,"prev":0}"#: .invalid("n"), #"{"prev":0}"#: .missing("n"),
        ])
    func numbers(text: String, failure: FeedPayloadFailure) {
        #expect(throws: failure) { try FeedMessage(parsing: Array(text.utf8), of: hall) }
    }

    @Test("a hello of another version, or with more done than claimed or recorded, is refused")
    func hellos() {
        func read(_ text: String) throws(FeedPayloadFailure) { _ = try FeedHello(parsing: Array(text.utf8)) }
        #expect(throws: FeedPayloadFailure.unsupportedVersion(2)) { try read(#"{"v":2}"#) }
        #expect(throws: FeedPayloadFailure.missing("buttons")) { try read(#"{"v":1}"#) }
        for (facts, name) in [(facts(last: 1, claimed: 2), "claimed"), (facts(last: 3, claimed: 1, done: 2), "done")] {
            #expect(throws: FeedPayloadFailure.invalid(name)) {
                try FeedHello(parsing: hello([hall: facts]).encoded())
            }
        }
    }

    @Test("at most 64 steps, 256 buttons and 64 octets of a name are read")
    func limits() throws {
        func steps(_ count: Int) -> FeedMessage {
            FeedMessage(number: 1, previous: 0, content: .steps((1...count).map { down($0) }))
        }
        #expect(try FeedMessage(parsing: steps(64).encoded(), of: hall) == steps(64))
        #expect(throws: FeedPayloadFailure.tooMany("steps")) { try FeedMessage(parsing: steps(65).encoded(), of: hall) }

        func site(_ count: UInt64) -> FeedHello {
            let ids = (1...count).map { ButtonID(BluetoothAddress(rawValue: $0)) }
            return hello(Dictionary(uniqueKeysWithValues: ids.map { ($0, facts()) }))
        }
        #expect(try FeedHello(parsing: site(256).encoded()) == site(256))
        #expect(throws: FeedPayloadFailure.tooMany("buttons")) { try FeedHello(parsing: site(257).encoded()) }

        let name = String(repeating: "a", count: 64)
        #expect(try FeedCursor(parsing: claim(1, engine: name).encoded()).engine == name)
        #expect(throws: FeedPayloadFailure.invalid("engine")) {
            try FeedCursor(parsing: claim(1, engine: name + "a").encoded())
        }
        #expect(throws: FeedPayloadFailure.tooLong(1025)) {
            try FeedWant(parsing: [UInt8](repeating: 0x20, count: 1025))
        }
    }

    @Test("a name is cut to 64 octets between characters, so that the hello can be read")
    func longName() throws {
        let long = FeedHello.Button(
            serial: "A", model: .flic2, name: String(repeating: "ü", count: 33), firmware: 1)
        #expect(long.name == String(repeating: "ü", count: 32))
        #expect(try FeedHello(parsing: hello([hall: long]).encoded()) == hello([hall: long]))
    }

    @Test(
        "a topic is read as it is written",
        arguments: [FeedTopic.Kind.hello, .messages(hall), .cursor(hall), .done(hall), .want(hall)])
    func topics(kind: FeedTopic.Kind) {
        for site in ["tryck", "tryck/berlin7", "feed", "a/feed/b", "/"] {
            #expect(FeedTopic(FeedTopic(site, kind).description) == FeedTopic(site, kind))
        }
    }

    @Test(
        "other topics are none of the feed",
        arguments: [
            "", "feed", "/feed/hello", "tryck/feed", "tryck/feed/", "tryck/feed/hello/", "tryck/feed/80E4DA000001",
            "tryck/feed/80e4da000001/state", "tryck/feed/80e4da000001/cursor/x", "tryck/+/feed/hello",
            "a\u{0}/feed/hello",
            "tryck/80e4da000001/event", String(repeating: "x", count: 129) + "/feed/hello",
        ])
    func foreignTopics(name: String) {
        #expect(FeedTopic(name) == nil)
    }
}

extension FeedMessage {
    static func random(of button: ButtonID, using random: inout SeededGenerator) -> FeedMessage {
        let number = Int.random(in: 1...1 << 53, using: &random)
        if Int.random(in: 0..<8, using: &random) == 0 {
            return FeedMessage(number: number, previous: .random(in: 0..<number, using: &random), content: .lost)
        }
        let bootID = UInt32.random(in: 0...(.max), using: &random)
        let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            FeedStep.random(of: button, bootID: bootID, using: &random)
        }
        return FeedMessage(number: number, previous: number - 1, content: .steps(steps))
    }
}

extension FeedStep {
    private static let releases: [PressStep.Release] = [
        .open, .click, .doubleClick, .afterHold, .afterHoldClick, .afterHoldDoubleClick,
    ]

    static func random(of button: ButtonID, bootID: UInt32, using random: inout SeededGenerator) -> FeedStep {
        let age = Duration.milliseconds(Int64.random(in: 0...1 << 40, using: &random))
        let (wasQueued, wasQueuedLast) = (Bool.random(using: &random), Bool.random(using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 {
            return .turn(
                ButtonMovement(
                    button: button, part: ButtonPart.allCases.randomElement(using: &random) ?? .big,
                    steps: .random(in: -1000...1000, using: &random), position: .random(in: 0...100, using: &random),
                    slot: .random(in: 0...12, using: &random),
                    dial: [nil, .part(.small), .slot(3), .free].randomElement(using: &random) ?? nil,
                    units: .random(in: 0...Dial.unitsPerTurn, using: &random), wasQueued: wasQueued,
                    wasQueuedLast: wasQueuedLast, age: age))
        }
        let steps: [PressStep] =
            [.down, .hold(ofSecondPress: false), .hold(ofSecondPress: true), .clickTimeout]
            + releases.map(PressStep.up)
        return .press(
            ButtonEvent(
                button: button, bootID: bootID, counter: .random(in: 0...(.max), using: &random),
                step: steps.randomElement(using: &random) ?? .down, ticks: .random(in: 0...1 << 53, using: &random),
                wasQueued: wasQueued, wasQueuedLast: wasQueuedLast, age: age,
                part: ([nil] + ButtonPart.allCases).randomElement(using: &random) ?? nil,
                swipe: ([nil] + SwipeDirection.allCases).randomElement(using: &random) ?? nil,
                isTimeRough: .random(using: &random)))
    }
}

extension FeedHello {
    static func random(using random: inout SeededGenerator) -> FeedHello {
        var hello = hello(
            session: .random(in: 0...1 << 53, using: &random), term: .random(in: 0...1 << 53, using: &random), [:])
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            let last = Int.random(in: 0...1 << 53, using: &random)
            let claimed = Int.random(in: 0...last, using: &random)
            var button = facts(last: last, claimed: claimed, done: .random(in: 0...claimed, using: &random))
            button.model = FlicModel.allCases.randomElement(using: &random) ?? .flic2
            if Bool.random(using: &random) {
                let end = Int.random(in: 0...last, using: &random)
                button.former = FeedFormer(
                    last: end, certain: .random(in: 0...end, using: &random),
                    session: .random(in: 0...99, using: &random))
            }
            button.battery = Bool.random(using: &random) ? Int.random(in: 0...100, using: &random) : nil
            hello.buttons[ButtonID(BluetoothAddress(rawValue: random.next()))] = button
        }
        return hello
    }
}
