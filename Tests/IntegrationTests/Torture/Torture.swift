import ButtonModel
import CLinux
import Foundation
import JSON
import Simulator
import TestSupport

/// A house whose daemon is killed again and again while its buttons are pressed.
///
/// The buttons live on the thread that calls `run`, and outlive every daemon. There is a rule for each code of a press,
/// which leaves a mark that identifies the press. The rule of an interrupted run identifies the code.
final class Torture {
    /// When the daemon is killed.
    enum Plan: CustomStringConvertible {
        case afterStart(Duration)
        /// After the first release that the daemon receives live.
        case afterPress(Duration)

        /// Instants shortly after the start, while links and stored presses arrive, and between a press and its
        /// acknowledgement.
        static func random(using random: inout SeededGenerator) -> Plan {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...1: .afterStart(.microseconds(Int.random(in: 0...60_000, using: &random)))
            case 2...4: .afterStart(.microseconds(Int.random(in: 60_000...1_500_000, using: &random)))
            case 5...8: .afterPress(.microseconds(Int.random(in: 0...20_000, using: &random)))
            default: .afterPress(.microseconds(Int.random(in: 20_000...700_000, using: &random)))
            }
        }

        var description: String {
            switch self {
            case .afterStart(let delay): "\(delay) after its start"
            case .afterPress(let delay): "\(delay) after a press"
            }
        }
    }

    struct Life {
        var plan: Plan?
        /// What the proxy was told, and when. The delay of the plan begins then.
        var fault: String?
        var startedAt = Date()
        var endedAt: Date?
        var daemon: Program
    }

    static let names = ["kitchen", "hall", "stairs", "cellar"]

    let workshop: Workshop
    let port: Int
    let messages: Program
    let proxy: TortureProxy?
    private(set) var buttons: [AirButton] = []
    private(set) var lives: [Life] = []
    /// Their logs list all messages that they received.
    private(set) var brokers: [Program]
    /// The number of lives that ended in order.
    private(set) var stopCount = 0
    /// The number of outages of the broker during this life of the daemon.
    private var outages = 0
    /// The daemon's lines about connections to the broker, in this life of the daemon.
    private var connections = LineCount("connected to mqtt")
    private let subscriptions = LineCount("received SUBACK")
    /// The number of subscriptions before the present broker was started. A client that is slow may miss a broker, so the number of
    /// brokers does not say how many subscriptions there are.
    private var earlierSubscriptions = 0
    private var random: SeededGenerator
    private let start = ContinuousClock.now

    init(seed: UInt64, radios: TortureRadios = .adapter) throws {
        random = SeededGenerator(seed: seed)
        workshop = try Workshop()
        try workshop.putControlSocketInMemory()
        port = try Workshop.freePort()
        try workshop.write(
            "mosquitto.conf",
            """
            listener \(port) 127.0.0.1
            set_tcp_nodelay true
            persistence false
            user \(NSUserName())
            allow_anonymous true

            """)
        brokers = [try Self.broker(workshop)]
        messages = try workshop.subscriber(port)
        let air = try workshop.rootCanal()
        try workshop.write("rules.yaml", TortureRules.text(marks: workshop.path("marks")))
        let root = SimulatorRoot.publicKey.map { String(format: "%02x", $0) }.joined()
        let adapter = "\"h4:tcp:127.0.0.1:\(air)\""
        let entries: [String]
        switch radios {
        case .adapter:
            proxy = nil
            entries = [adapter]
        case .proxyAndAdapter:
            let proxy = try TortureProxy(workshop, air: air)
            self.proxy = proxy
            entries = [
                proxy.entry, "{adapter: \(adapter), name: cellar, maximum_connections: \(Self.names.count / 2)}",
            ]
        }
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {trust_roots: ["\(root)"]}
            radios: [\(entries.joined(separator: ", "))]
            mqtt: {broker: "mqtt://127.0.0.1:\(port)"}
            homeassistant: {discovery: false}
            rules: rules.yaml
            """)
        for (place, name) in Self.names.enumerated() {
            buttons.append(
                try AirButton(
                    SimulatedButtonDescription(name: name), port: air, seed: seed &+ UInt64(place), at: now))
        }
        try pair()
    }

    private var now: Instant { Instant(sinceBoot: .seconds(1) + (ContinuousClock.now - start)) }

    private func pair() throws {
        try begin(nil)
        try messages.line(containing: "tryck/bridge/state online")
        try lives[0].daemon.line(containing: "is ready")
        try ask("permit_join", "60")
        guard try run(for: .seconds(60), until: { buttons.allSatisfy { $0.isPaired && $0.hasSession } }) else {
            throw Program.Failure(
                description: "the buttons did not pair:\n\(notes)\n\(lives[0].daemon.text)")
        }
        try ask("permit_join", "0")
    }

    /// What each button has done, a line for each step.
    var notes: String {
        zip(Self.names, buttons).map { name, button in
            "\(name) \(button.address):\n  \(button.notes.joined(separator: "\n  "))"
        }
        .joined(separator: "\n")
    }

    private func ask(_ request: String, _ payload: String) throws {
        try RuleHouse.publish(workshop, port, "tryck/bridge/request/\(request)", payload)
    }

    // MARK: Lives

    /// Runs the daemon once, until its end.
    func live() throws {
        if lives.last?.endedAt == nil { try kill() }
        let plan = Plan.random(using: &random)
        try begin(plan)
        try failProxy()
        switch plan {
        case .afterStart(let delay): try run(for: delay)
        case .afterPress(let delay): try runUntilPress(andThen: delay)
        }
        if Int.random(in: 0..<3, using: &random) == 0 { try stop() } else { try kill() }
    }

    /// The proxy fails while the buttons are being connected, or soon afterwards.
    private func failProxy() throws {
        guard let proxy else { return }
        let delay = Duration.milliseconds(Int.random(in: 0...1_500, using: &random))
        try run(for: delay)
        let button = buttons.randomElement(using: &random)?.address ?? ""
        lives[lives.count - 1].fault = "\(proxy.fail(button: button, using: &random)) after \(delay)"
    }

    /// The broker dies and is away for a moment. Every third time the daemon is restarted, because it reconnects more
    /// slowly each time.
    func loseBroker() throws {
        if outages == 3 {
            try kill()
            try run(for: .seconds(20)) { hasObserver }
            try begin(nil)
        }
        outages += 1
        try run(for: .seconds(20)) { connections.count(in: lives.last?.daemon.lines ?? []) >= outages }
        switch Plan.random(using: &random) {
        // The broker that connects first to a restarted daemon lives until a press, because it receives the reports of interrupted
        // runs. If it died before it had acknowledged them, the next broker would receive them, perhaps before the client has
        // subscribed to it.
        case .afterStart(let delay) where outages == 1 && lives.count > 1: try runUntilPress(andThen: delay)
        case .afterStart(let delay): try run(for: delay)
        case .afterPress(let delay): try runUntilPress(andThen: delay)
        }
        try end(brokers[brokers.count - 1])
        try run(for: .milliseconds(Int.random(in: 0...800, using: &random)))
        earlierSubscriptions = subscriptions.count(in: messages.lines)
        brokers.append(try Self.broker(workshop))
    }

    /// Whether a client has subscribed to this broker, because a new daemon reports interrupted presses only once.
    private var hasObserver: Bool { subscriptions.count(in: messages.lines) > earlierSubscriptions }

    private static func broker(_ workshop: Workshop) throws -> Program {
        let broker = try workshop.start("/usr/sbin/mosquitto", ["-v", "-c", workshop.path("mosquitto.conf")])
        try broker.line(containing: "running")
        return broker
    }

    private func runUntilPress(andThen delay: Duration) throws {
        let seen = livePresses
        if try run(for: .seconds(3), until: { livePresses > seen }) { try run(for: delay) }
    }

    /// The presses that the daemon received live.
    private var livePresses: Int {
        buttons.reduce(0) { sum, button in sum + button.presses.count { $0.deliveries.first?.age == .zero } }
    }

    private func begin(_ plan: Plan?) throws {
        outages = 0
        connections = LineCount("connected to mqtt")
        for button in buttons { button.life = lives.count }
        let daemon = try workshop.start(
            Workshop.built("tryckd"),
            [
                "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state"),
                "--control-socket", workshop.controlSocket,
            ])
        lives.append(Life(plan: plan, daemon: daemon))
    }

    private func kill() throws {
        guard let life = lives.last else { return }
        lives[lives.count - 1].endedAt = Date()
        try end(life.daemon)
        for button in buttons { button.hostDied(at: now) }
    }

    /// Ends the daemon in order, as an upgrade does, while its buttons go on.
    private func stop() throws {
        guard let life = lives.last else { return }
        stopCount += 1
        Foundation.kill(life.daemon.processIdentifier, SIGTERM)
        guard try run(for: .seconds(15), until: { life.daemon.hasEnded }) else {
            throw Program.Failure(description: "the daemon goes on after SIGTERM")
        }
        lives[lives.count - 1].endedAt = Date()
        for button in buttons { button.hostDied(at: now) }
    }

    private func end(_ program: Program) throws {
        Foundation.kill(program.processIdentifier, SIGKILL)
        // Its files, ports and locks are free when the kernel reports its end.
        var information = siginfo_t()
        waitid(P_PID, id_t(program.processIdentifier), &information, WEXITED | WNOWAIT)
    }

    func press(_ isPressing: Bool) { for button in buttons { button.isResting = !isPressing } }

    /// The last daemon runs until everything is delivered.
    func settle() throws {
        proxy?.recover()
        if lives.last?.endedAt != nil {
            try run(for: .seconds(20)) { hasObserver }
            try begin(nil)
        }
        _ = try run(for: .seconds(60)) {
            // A button that has stopped advertising is pressed, so that it advertises again.
            for button in buttons { button.isResting = button.hasSession }
            return buttons.allSatisfy { $0.hasSession && $0.isDrained && !$0.isDown }
        }
        press(false)
        // Waits for the runs of rules to end, and for their messages.
        var lookAt = now
        _ = try run(for: .seconds(30)) {
            guard now >= lookAt else { return false }
            lookAt = now + .milliseconds(100)
            return account().findings.isEmpty && numbering.lost.isEmpty
        }
    }

    // MARK: Time

    /// Runs the buttons for the duration, or until the condition is true.
    ///
    /// - Returns: whether the condition became true.
    @discardableResult
    func run(for duration: Duration, until isTrue: () -> Bool = { false }) throws -> Bool {
        let end = now + duration
        while now < end {
            if isTrue() { return true }
            for button in buttons { try button.timePassed(at: now) }
            if isTrue() { return true }
            let wake = buttons.compactMap(\.deadline).reduce(end, min)
            // Rounded down, so that a kill is on time; the last milliseconds are waited for without sleeping.
            let left = max(0, min((wake - now).milliseconds, 50))
            var descriptors = buttons.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&descriptors, nfds_t(descriptors.count), Int32(left)) > 0 else { continue }
            for (place, descriptor) in descriptors.enumerated() where descriptor.revents != 0 {
                try buttons[place].receive(at: now)
            }
        }
        return isTrue()
    }
}

/// Counts the lines of a program that contain a text; each line is searched once.
private final class LineCount {
    private let text: String
    private var searched = 0
    private var count = 0

    init(_ text: String) { self.text = text }

    func count(in lines: [String]) -> Int {
        count += lines.dropFirst(searched).count { $0.contains(text) }
        searched = max(searched, lines.count)
        return count
    }
}
