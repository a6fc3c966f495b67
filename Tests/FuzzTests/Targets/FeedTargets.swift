import ButtonModel
import MQTTTopics

@testable import Feed

extension FuzzTarget {
    /// The engine's side of the feed, and arbitrary payloads from sites and other engines: each message is claimed before
    /// it is handed over, none is handed over twice, and the machine's tables stay bounded and consistent.
    static let feedSource = FuzzTarget(name: "feed-source") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = FeedSourceBench()
        while let step = input.step() { try bench.take(step, &input) }
    }

    /// The site's side of the feed, and arbitrary payloads from engines: messages follow each other without a gap, no
    /// claimed one is sent again, and at most twenty are unclaimed.
    static let feedUplink = FuzzTarget(name: "feed-uplink") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = FeedUplinkBench()
        while let step = input.step() { try bench.take(step, &input) }
    }
}

private let site = "tryck/a"
private let buttons = (1...4).map { ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0000 + $0)) }

private func aStep(_ button: ButtonID) -> FeedStep {
    .press(ButtonEvent(button: button, bootID: 7, counter: 1, step: .down, ticks: 0))
}

private func checked(_ problems: [String]) throws(BrokenPromise) {
    try promise("no invariant is violated: \(problems)", problems.isEmpty)
}

private struct FeedSourceBench: TimedBench {
    private var source = FeedSource(engine: "e")
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var isConnected = false
    /// The last message that was handed over, by button and life of the site, and whether its number began anew since.
    private var taken: [FeedPlace: Int] = [:]
    private var claims: [ButtonID: Int] = [:]

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let button = buttons[Int(step >> 4 & 3)]
        switch step & 0xF {
        case 0:
            isConnected = true
            try give(.connected)
        case 1: try give(.lead(term: Int(input.octet())))
        case 2: try give(step & 0x40 == 0 ? .standBy : .fence)
        case 3:
            isConnected = false
            try give(.disconnected)
        case 4: try say(.hello, hello(&input).encoded())
        case 5: try say(.hello, [])
        case 6, 7, 8:
            let number = Int(input.octet() & 31) + 1
            let message = FeedMessage(number: number, previous: number - 1, content: .steps([aStep(button)]))
            try say(.messages(button), message.encoded())
        case 9:
            let (first, second) = (Int(input.octet() & 31), Int(input.octet() & 31) + 1)
            guard first < second else { return }
            try say(.messages(button), FeedMessage(number: second, previous: first, content: .lost).encoded())
        case 10:
            let claim = FeedCursor(
                number: Int(input.octet() & 31) + 1, term: Int(input.octet() & 7), engine: "f",
                installation: life(input.octet()), session: Int(input.octet() & 3))
            try say(.cursor(button), claim.encoded())
        case 11:
            let done = FeedDone(
                number: Int(input.octet() & 31), term: Int(input.octet() & 7), installation: life(input.octet()))
            try say(.done(button), done.encoded())
        case 12:
            try give(
                .settled(
                    FeedPlace(
                        site: site, button: button, installation: life(input.octet()),
                        number: Int(input.octet() & 31))))
        case 13: try pass(input.pause())
        case 14:
            let kinds: [FeedTopic.Kind] = [.want(button), .cursor(button), .done(button)]
            let name = FeedTopic(site, kinds[Int(input.octet() % 3)]).description
            switch step >> 6 {
            case 0: try give(.acknowledged(topicName: name))
            case 1: try give(.resign)
            default: try give(.refused(topicName: name))
            }
        default:
            let kinds: [FeedTopic.Kind] = [.hello, .messages(button), .cursor(button), .done(button)]
            try say(kinds[Int(step >> 4 & 3)], input.chunk())
        }
    }

    private func life(_ octet: UInt8) -> String { octet & 1 == 0 ? "l" : "m" }

    private func hello(_ input: inout FuzzInput) -> FeedHello {
        let octet = input.octet()
        var hello = FeedHello(
            site: "a", installation: life(octet), session: Int(octet >> 1 & 3), term: Int(octet >> 3 & 7))
        for button in buttons.prefix(Int(octet >> 6) + 1) {
            let last = Int(input.octet() & 31)
            let claimed = min(last, Int(input.octet() & 31))
            hello.buttons[button] = .init(
                serial: "s", model: .flic2, name: "n", firmware: 1, last: last, claimed: claimed,
                done: min(claimed, Int(input.octet() & 31)))
        }
        return hello
    }

    private mutating func say(_ kind: FeedTopic.Kind, _ payload: [UInt8]) throws(BrokenPromise) {
        try give(
            .received(topicName: FeedTopic(site, kind).description, payload: payload, brokerAge: .milliseconds(1)))
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    private mutating func give(_ input: FeedSource.Input) throws(BrokenPromise) {
        for effect in source.handle(input, at: now) {
            switch effect {
            case .publish(let message):
                try promise("nothing is published without a connection", isConnected)
                try published(message)
            case .took(let place, let steps):
                try promise("a message with steps has some", !steps.isEmpty)
                try handedOver(place)
            case .lost(let place, let count):
                try promise("some messages are lost", count > 0)
                try handedOver(place)
            case .interrupted(let place, let first):
                try promise("some messages were interrupted", (1...place.number).contains(first))
            case .beganAnew(let place, _):
                taken[key(place)] = place.number
                claims[place.button] = place.number
            case .removed(_, let button):
                taken = taken.filter { $0.key.button != button }
                claims[button] = nil
            case .setTimer(let deadline):
                try promise("a deadline lies ahead", deadline > now)
                timer = deadline
            case .cancelTimer: timer = nil
            case .gaveUp(let givenUp):
                try promise("what is given up was taken before", givenUp.allSatisfy { $0.since <= now })
            case .record, .forget, .inherited, .known, .offline, .restored, .anomaly: break
            }
        }
        #if DEBUG
            try checked(source.problems())
        #endif
    }

    private func key(_ place: FeedPlace) -> FeedPlace {
        var key = place
        key.number = 0
        return key
    }

    private mutating func handedOver(_ place: FeedPlace) throws(BrokenPromise) {
        try promise("a message is handed over once, in order", place.number > taken[key(place)] ?? 0)
        try promise("a message is claimed before it is handed over", claims[place.button] == place.number)
        taken[key(place)] = place.number
    }

    private mutating func published(_ message: MQTTMessage) throws(BrokenPromise) {
        guard let feed = FeedTopic(message.topicName) else { throw BrokenPromise(promise: "a topic is of the feed") }
        guard case .cursor(let button) = feed.kind, !message.payload.isEmpty else { return }
        guard let claim = try? FeedCursor(parsing: message.payload) else {
            throw BrokenPromise(promise: "a claim can be read")
        }
        claims[button] = claim.number
    }
}

private struct FeedUplinkBench: TimedBench {
    private var uplink = FeedUplink(topic: site, site: "a", installation: "l")
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var session = 0
    private var isConnected = false
    private var entries: [FeedEntry] = []
    private var first = 1
    private var claimed = 0
    private var reads: [FeedUplink.Input] = []
    private let button = buttons[0]

    init() {
        let facts = FeedHello.Button(serial: "s", model: .flic2, name: "n", firmware: 1)
        _ = uplink.handle(.start([button: FeedJournal(facts, first: 1)], term: 0), at: now)
    }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        switch step & 0xF {
        case 0:
            guard !isConnected else { return }
            session += 1
            isConnected = true
            try give(.connected(session: session))
        case 1:
            isConnected = false
            try give(.disconnected)
        case 2: try give(.engine(isOnline: step >> 4 & 1 == 0))
        case 3, 4, 5:
            let entry = FeedEntry(number: entries.count + 1, receivedAt: now, steps: [aStep(button)])
            entries.append(entry)
            try give(.recorded(button, entry))
        case 6:
            first = min(max(first, Int(input.octet() & 31)), entries.count + 1)
            try give(.trimmed(button, first: first))
        case 7, 8:
            let claim = FeedCursor(
                number: Int(input.octet() & 31) + 1, term: Int(step >> 4), engine: "f",
                installation: input.octet() & 7 == 0 ? "m" : "l", session: session)
            try hear(.cursor(button), claim.encoded())
        case 9:
            let done = FeedDone(number: Int(input.octet() & 31), term: Int(step >> 4), installation: "l")
            try hear(.done(button), done.encoded())
        case 10, 11: try hear(.want(button), FeedWant(after: Int(input.octet() & 31)).encoded())
        case 12: try pass(input.pause())
        case 14 where step >> 4 == 0: try give(.refused(topicName: FeedTopic(site, .hello).description))
        case 13:
            guard !reads.isEmpty else { return }
            try give(reads.removeFirst())
        default:
            let kinds: [FeedTopic.Kind] = [.want(button), .cursor(button), .done(button), .hello]
            try hear(kinds[Int(step >> 4 & 3)], input.chunk())
        }
    }

    private mutating func hear(_ kind: FeedTopic.Kind, _ payload: [UInt8]) throws(BrokenPromise) {
        try give(.received(topicName: FeedTopic(site, kind).description, payload: payload))
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    private mutating func give(_ input: FeedUplink.Input) throws(BrokenPromise) {
        for effect in uplink.handle(input, at: now) {
            switch effect {
            case .publish(let message, _):
                try promise("nothing is published without a connection", isConnected)
                guard case .messages = FeedTopic(message.topicName)?.kind else { break }
                guard let sent = try? FeedMessage(parsing: message.payload, of: button) else {
                    throw BrokenPromise(promise: "a message can be read")
                }
                try promise("what is claimed is not sent again", sent.previous >= claimed)
                try promise("what was not recorded is not sent", sent.number <= entries.count)
                try promise("only what is dropped counts as lost", sent.lostCount == nil || sent.number < first)
            case .read(_, let after, let count):
                try promise("at most twenty are read", (1...FeedUplink.maximumUnclaimed).contains(count))
                reads.append(.read(button, Array(entries.filter { $0.number > max(after, first - 1) }.prefix(count))))
            case .claimed(_, let number):
                try promise("claims grow", number > claimed)
                claimed = number
                first = max(first, number + 1)
            case .setTimer(let deadline):
                try promise("a deadline lies ahead", deadline > now)
                timer = deadline
            case .cancelTimer: timer = nil
            case .beganLife(_, let formers, _):
                try promise(
                    "what may be of an earlier life was recorded",
                    formers.values.allSatisfy { $0.last <= entries.count })
            case .done, .term, .asked, .anomaly: break
            }
        }
        #if DEBUG
            try checked(uplink.problems())
        #endif
    }
}
