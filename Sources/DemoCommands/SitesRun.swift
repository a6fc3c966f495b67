import ButtonModel
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform
import Simulator

/// The course of `tryck demo --sites`: a press at each site in turn, until the leader of the engines is killed; presses while a
/// stand-by takes over; and presses afterwards.
///
/// | state    | on                                                  | becomes  | and we                                   |
/// |----------|-----------------------------------------------------|----------|------------------------------------------|
/// | pairing  | a site is connected                                 | pairing  | let it pair its button                   |
/// | pairing  | every button is ready, and an engine leads          | playing  | begin to press                           |
/// | playing  | six presses came out                                | takeover | kill the leader, and go on pressing      |
/// | takeover | another engine leads, and all presses came out      | after    | start the dead engine again              |
/// | after    | six more presses came out                           | done     | say what became of all presses           |
/// | any      | 30 s without any of it                              | done     | fail with what was awaited               |
struct SitesRun: Hashable, Sendable {
    enum Member: Hashable, Sendable {
        /// Numbered from 0. The same applies to engines.
        case site(Int)
        case engine(Int)

        var name: String {
            switch self {
            case .site(let index): "site\(index + 1)"
            case .engine(let index): "a\(index + 1)"
            }
        }
    }

    enum Input: Hashable, Sendable {
        /// The control socket of a member is connected.
        case connected(Member)
        case received(Member, JSONValue)
        /// The broker delivered a message that was published after the subscription.
        case delivered(topicName: String, payload: String)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        case send(Member, JSONValue)
        case kill(Member)
        case start(Member)
        /// Print one line.
        case show(String)
        case setTimer(Instant)
        case finish
        case fail(Failure)
    }

    private enum State: Hashable {
        case pairing, playing, takeover, after, done
    }

    private struct Killed: Hashable {
        /// The name of the engine.
        var name: String
        var at: Instant
    }

    static let timeLimit = Duration.seconds(30)
    private static let interval = Duration.milliseconds(700)
    /// The number of presses that come out before the leader is killed, and after the takeover.
    private static let pressCount = 6
    /// The first level of the topics of lamps. The second one is the address of a button.
    static let lamps = "lamp"

    private let siteCount: Int
    private var state = State.pairing
    private var connectedSites: Set<Int> = []
    private var readySites: Set<Int> = []
    /// The name of the engine that said last that it leads.
    private var leader: String?
    private var killed: Killed?
    private var nextSite = 0
    /// The presses of each site that have not come out, oldest first.
    private var waiting: [[Instant]]
    private var pressed = 0
    private var cameOut = 0
    private var cameTwice = 0
    private var cameOutBefore = 0
    private var longest = Duration.zero
    private var deadline: Instant?

    init(siteCount: Int) {
        self.siteCount = siteCount
        waiting = Array(repeating: [], count: siteCount)
    }

    /// The address of a site's button.
    static func address(ofSite index: Int) -> String { "80:E4:DA:00:00:0\(index + 1)" }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        guard state != .done else { return [] }
        if deadline == nil { deadline = now + Self.timeLimit }
        switch input {
        case .connected(let member): return connected(member, at: now)
        case .received(let member, let line): return received(line, of: member, at: now)
        case .delivered(let topicName, let payload): return delivered(topicName, payload, at: now)
        case .timerFired: return timerFired(at: now)
        }
    }

    private mutating func connected(_ member: Member, at now: Instant) -> [Effect] {
        guard case .site(let index) = member, connectedSites.insert(index).inserted else { return [] }
        return [
            .send(member, ["request": .string(ControlRequestName.watch.rawValue)]),
            permitJoin(at: member), .setTimer(now + Self.interval),
        ]
    }

    private mutating func received(_ line: JSONValue, of member: Member, at now: Instant) -> [Effect] {
        guard case .site(let index) = member, StreamKind(line) == .button, line.text("state") == "ready",
            readySites.insert(index).inserted
        else { return [] }
        deadline = now + Self.timeLimit
        return [.show("\(member.name) has paired its button")]
    }

    // MARK: Messages

    private mutating func delivered(_ topicName: String, _ payload: String, at now: Instant) -> [Effect] {
        let levels = topicName.split(separator: "/").map(String.init)
        if topicName == "engines/1/state" { return stateSaid(payload, at: now) }
        guard levels.count == 2, levels[0] == Self.lamps,
            let site = (0..<siteCount).first(where: { Self.address(ofSite: $0) == levels[1] })
        else { return [] }
        deadline = now + Self.timeLimit
        guard let pressedAt = waiting[site].first else {
            cameTwice += 1
            return [.show("\(Member.site(site).name): the lamp was switched once more")]
        }
        waiting[site].removeFirst()
        cameOut += 1
        let duration = now - pressedAt
        longest = max(longest, duration)
        let engine = leader ?? "an engine"
        return [
            .show("\(Member.site(site).name): pressed, and \(engine) switched the lamp after \(Self.text(duration))")
        ]
    }

    private mutating func stateSaid(_ payload: String, at now: Instant) -> [Effect] {
        guard let said = try? JSONValue(parsing: payload), said.text("state") == "online" else { return [] }
        let engine = said.text("engine")
        guard engine != leader, engine != killed?.name || state == .after else { return [] }
        leader = engine
        deadline = now + Self.timeLimit
        guard let killed, state == .takeover else { return [.show("\(engine) leads, and the others stand by")] }
        return [.show("\(engine) leads \(Self.text(now - killed.at)) after \(killed.name) was killed")]
    }

    // MARK: The course

    private mutating func timerFired(at now: Instant) -> [Effect] {
        let oldest = waiting.compactMap(\.first).min()
        if let deadline, now >= min(deadline, (oldest ?? now) + Self.timeLimit) { return timeLimitReached() }
        let next: [Effect] = [.setTimer(now + Self.interval)]
        let isQuiet = waiting.allSatisfy(\.isEmpty)
        switch state {
        case .pairing:
            guard readySites.count == siteCount, leader != nil else {
                // A site refuses while its adapter is not ready.
                return next + connectedSites.subtracting(readySites).sorted().map { permitJoin(at: .site($0)) }
            }
            state = .playing
            return next + [press(at: now)]
        case .playing:
            guard cameOut >= Self.pressCount, isQuiet, let leader, let index = Int(leader.dropFirst()) else {
                return next + [press(at: now)]
            }
            state = .takeover
            killed = Killed(name: leader, at: now)
            return next + [
                .kill(.engine(index - 1)), .show("\(leader), which leads, is killed; presses go on"), press(at: now),
            ]
        case .takeover:
            guard let killed, leader != killed.name, isQuiet, let index = Int(killed.name.dropFirst()) else {
                return next + [press(at: now)]
            }
            state = .after
            cameOutBefore = cameOut
            return next + [
                .start(.engine(index - 1)), .show("\(killed.name) is started again, and stands by"), press(at: now),
            ]
        case .after:
            guard cameOut >= cameOutBefore + Self.pressCount, isQuiet else {
                return pressed < cameOutBefore + Self.pressCount + siteCount ? next + [press(at: now)] : next
            }
            state = .done
            guard cameTwice == 0 else {
                return [
                    .fail(Failure(.internalError, "\(cameTwice) presses switched a lamp twice. Please report this."))
                ]
            }
            return [
                .show(
                    "\(pressed) presses at \(siteCount) sites: each switched its lamp once, the slowest after \(Self.text(longest))"
                ),
                .finish,
            ]
        case .done: return []
        }
    }

    private mutating func press(at now: Instant) -> Effect {
        let site = nextSite
        nextSite = (nextSite + 1) % siteCount
        pressed += 1
        waiting[site].append(now)
        let data: JSONValue = ["button": "button", "press": .string(SimulatedAction.press(.click).name)]
        return request(ControlRequestName.pressSimulated, data, of: .site(site))
    }

    private mutating func timeLimitReached() -> [Effect] {
        state = .done
        let awaited =
            readySites.count < siteCount
            ? "the sites to pair their buttons"
            : leader == nil || leader == killed?.name
                ? "an engine to lead" : "the lamps of \(waiting.reduce(0) { $0 + $1.count }) presses"
        return [
            .fail(
                Failure(
                    .internalError, "Nothing happened for 30 s; still waiting for \(awaited). Please report this."))
        ]
    }

    private func permitJoin(at site: Member) -> Effect {
        request(BridgeRequestName.permitJoin, ["time": 30], of: site)
    }

    private func request(_ name: some RequestName, _ data: JSONValue, of member: Member) -> Effect {
        .send(member, ["request": .string(name.rawValue), "transaction": .string(name.rawValue), "data": data])
    }

    /// In milliseconds, or in seconds with a tenth.
    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
