import ButtonModel
import Feed
import Hub
import JSON
import MQTTTopics
import Rules
import TestSupport
import Testing

extension HouseRules {
    /// Each press of any button sends a message.
    static let lamp: HouseRules = """
        version: 1
        rules:
          - {id: lamp, triggers: {button: any, event: down}, actions: {publish: {topic: lamp, payload: "on"}}}
        """
    /// Each press of any button sends a message after 10 s.
    static let later: HouseRules = """
        version: 1
        rules:
          - id: later
            triggers: {button: any, event: down}
            actions: [{delay: 10s}, {publish: {topic: lamp, payload: "on"}}]
        """
    /// With three clicks, the engine decides by the times of presses, and does not wait for the verdict of the button.
    static let clicks: HouseRules = """
        version: 1
        defaults: {queued: accept}
        rules:
          - {id: one, triggers: {button: any, event: click}, actions: {publish: {topic: lamp, payload: one}}}
          - {id: two, triggers: {button: any, event: double_click}, actions: {publish: {topic: lamp, payload: two}}}
          - {id: three, triggers: {button: any, clicks: 3}, actions: {publish: {topic: lamp, payload: three}}}
        """
}

/// A hub that is an engine, with one site that has one button. The broker acknowledges a message only when a test says so.
struct EngineHouse {
    static let site = "tryck/berlin7"
    static let button = ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001))

    var hub: Hub
    var now = Instant(sinceBoot: .seconds(5))
    /// The state on the engine's disk.
    var stored: StoredState
    private let configuration: HubConfiguration
    private let rules: HouseRules
    /// What this engine published last on `engines/1/leader`.
    private(set) var claim: [UInt8] = []
    /// What this engine published last on `engines/1/state`.
    private var state: [UInt8] = []

    init(
        _ rules: HouseRules, name: String = "a1", installation: String = "00ff", share: EngineShare = .whole,
        hasMetrics: Bool = false
    ) {
        self.rules = rules
        configuration = HubConfiguration(
            version: "0", baseTopic: name, radios: [], hasMetrics: hasMetrics,
            engine: EngineConfiguration(name: name, share: share, sites: ["tryck/+"]))
        stored = StoredState(installationID: installation)
        hub = Hub(configuration, stored: stored, rules: rules.set)
        start()
    }

    /// An engine that leads.
    static func leading(_ rules: HouseRules) -> EngineHouse {
        var house = EngineHouse(rules)
        house.connect()
        house.lead()
        return house
    }

    private mutating func start() {
        take(.wallClock(UTCTime(milliseconds: 1_795_000_000_000)))
        take(.start)
    }

    /// Kills the engine, and starts it with what is on its disk.
    mutating func restart() {
        hub = Hub(configuration, stored: stored, rules: rules.set)
        start()
    }

    @discardableResult
    mutating func take(_ input: Hub.Input) -> [Hub.Effect] {
        let effects = hub.handleCompletely(input, at: now)
        #if DEBUG
            // Tests move the clock over deadlines without an input for them.
            for problem in hub.problems(at: Instant(nanoseconds: 0)) { Issue.record("after \(input): \(problem)") }
        #endif
        for case .record(_, let changes) in effects { stored.apply(changes) }
        for case .publish(_, let message, _) in effects
        where message.topicName == "engines/1/leader" && !message.payload.isEmpty {
            claim = message.payload
        }
        return effects
    }

    /// Lets time pass. The timer fires every second, and the broker sends back what this engine says of itself.
    @discardableResult
    mutating func wait(_ duration: Duration) -> [Hub.Effect] {
        var effects: [Hub.Effect] = []
        let end = now + duration
        while now < end {
            now = min(end, now + .seconds(1))
            effects += take(.timerFired)
            for case .publish(_, let message, _) in effects where message.topicName == "engines/1/state" {
                state = message.payload
            }
            if !state.isEmpty { effects += hear("engines/1/state", state) }
            state = []
        }
        return effects
    }

    /// Lets time pass in which the process is stopped.
    mutating func pass(_ duration: Duration) { now = now + duration }

    @discardableResult
    mutating func hear(_ topicName: String, _ payload: [UInt8]) -> [Hub.Effect] {
        take(.messageReceived(topicName: topicName, payload: payload, retained: false))
    }

    /// The broker acknowledges what claims messages of sites, or says how far they are done, among the effects.
    @discardableResult
    mutating func acknowledge(_ effects: [Hub.Effect]) -> [Hub.Effect] {
        Self.claimsAndDone(effects).flatMap { take(.published($0)) }
    }

    /// Connects to the broker, which retains the hello of the site.
    ///
    /// - Parameters:
    ///   - last: the number of the last message in the journal of the site.
    ///   - claimed: the number up to which the site knows of claims.
    @discardableResult
    mutating func connect(last: Int = 0, claimed: Int = 0) -> [Hub.Effect] {
        take(.brokerConnected) + sayHello(last: last, claimed: claimed)
    }

    /// - Parameter haveOwnSerials: whether each button has a serial number of its own. Otherwise all have the same, so that the engine
    ///   uses only the first one.
    @discardableResult
    mutating func sayHello(
        from site: String = site, installation: String = "9f3c", session: Int = 1, term: Int = 0,
        buttons: [ButtonID] = [button], model: FlicModel = .flic2, haveOwnSerials: Bool = false, last: Int = 0,
        claimed: Int = 0, battery: Int? = nil
    ) -> [Hub.Effect] {
        func facts(_ index: Int) -> FeedHello.Button {
            FeedHello.Button(
                serial: "BA00-A0000\(haveOwnSerials ? index + 1 : 1)", model: model, name: "Hall", firmware: 11,
                battery: battery, last: last, claimed: claimed)
        }
        let hello = FeedHello(
            site: site, installation: installation, session: session, term: term,
            buttons: Dictionary(uniqueKeysWithValues: buttons.enumerated().map { ($0.element, facts($0.offset)) }))
        return hear("\(site)/feed/hello", hello.encoded())
    }

    /// Lets this engine lead, because no other engine does.
    @discardableResult
    mutating func lead() -> [Hub.Effect] {
        var effects = wait(.seconds(5))
        effects += hear("engines/1/leader", claim)
        effects += wait(.seconds(1))
        return effects + hear("engines/1/leader", claim)
    }

    /// The broker sends the last claim of this engine, which it retains, and then the one that this engine publishes because of it.
    @discardableResult
    mutating func hearOwnClaim() -> [Hub.Effect] {
        hear("engines/1/leader", claim) + hear("engines/1/leader", claim)
    }

    /// The members of the answer to the request `status`.
    var status: JSONValue {
        mutating get {
            let effects = take(.controlLine(Hub.ClientID(rawValue: 1), Array(#"{"request":"status"}"#.utf8)))
            for case .respond(_, let line) in effects { return line["data"] ?? line }
            return .null
        }
    }

    /// Receives a message of the site with one step, which the broker has kept for a while.
    @discardableResult
    mutating func hear(
        _ number: Int, _ step: PressStep = .down, counter: Int? = nil, boot: UInt32 = 7, part: ButtonPart? = nil,
        after brokerAge: Duration = .zero, from site: String = site, of button: ButtonID = button
    ) -> [Hub.Effect] {
        let event = ButtonEvent(
            button: button, bootID: boot, counter: UInt32(counter ?? number), step: step, ticks: UInt64(number) * 3277,
            part: part)
        return hear(number, [.press(event)], after: brokerAge, from: site, of: button)
    }

    /// Receives a message of the site, which the broker has kept for a while.
    @discardableResult
    mutating func hear(
        _ number: Int, _ steps: [FeedStep], after brokerAge: Duration = .zero, from site: String = site,
        of button: ButtonID = button
    ) -> [Hub.Effect] {
        let message = FeedMessage(number: number, previous: number - 1, content: .steps(steps))
        return take(
            .expiringMessageReceived(
                topicName: "\(site)/feed/\(button)", payload: message.encoded(), retained: false,
                remaining: .seconds(3600) - brokerAge))
    }

    /// The records of claims, the messages and the programs among effects, in their order, without messages on topics of the
    /// hub itself.
    static func story(_ effects: [Hub.Effect]) -> [String] {
        effects.compactMap { effect in
            if case .record(_, let changes) = effect {
                return changes.contains { if case .feed(.claimed) = $0 { true } else { false } } ? "record" : nil
            }
            if case .publish(_, let message, _) = effect, !message.topicName.hasPrefix("a1/") {
                return message.topicName + " " + String(decoding: message.payload, as: UTF8.self)
            }
            if case .startJob(_, .process) = effect { return "program" }
            return nil
        }
    }

    /// The answer to the request `buttons`.
    var buttons: String {
        mutating get {
            let effects = take(.controlLine(Hub.ClientID(rawValue: 1), Array(#"{"request":"buttons"}"#.utf8)))
            for case .respond(_, let line) in effects { return line.description }
            return ""
        }
    }

    /// The ids of the claims among effects.
    static func claims(_ effects: [Hub.Effect]) -> [MessageID] {
        effects.compactMap {
            if case .publish(let id, let message, _) = $0, message.topicName.hasSuffix("/cursor") { id } else { nil }
        }
    }

    /// The messages among effects that claim messages of sites or say how far they are done. A broker acknowledges them in their order.
    static func claimsAndDone(_ effects: [Hub.Effect]) -> [MessageID] {
        effects.compactMap {
            guard case .publish(let id, let message, _) = $0 else { return nil }
            return message.topicName.hasSuffix("/cursor") || message.topicName.hasSuffix("/done") ? id : nil
        }
    }

    /// The events of the bridge among effects.
    static func events(_ effects: [Hub.Effect]) -> [JSONValue] {
        effects.compactMap {
            guard case .publish(_, let message, _) = $0, message.topicName == "a1/bridge/event" else { return nil }
            return try? JSONValue(parsing: message.payload)
        }
    }
}
