import BluetoothHost
import ButtonModel
import Simulator

/// An owner of a host, which handles the host's events and returns its other effects.
protocol Station {
    mutating func handle(_ input: LEHost.Input, at now: Instant) -> [LEHost.Effect]
}

/// Two hosts, each on a controller of its own, and the air between them, on one simulated clock.
struct TwoHosts<First: Station, Second: Station> {
    private(set) var first: First
    private(set) var second: Second
    /// Violations of the Bluetooth specification by a host.
    private(set) var violations: [String] = []
    private var air: Air
    private var now: Instant
    private var airTimer: Instant?
    private var hostTimers: [Instant?] = [nil, nil]
    private var letters: [Letter] = []

    private enum Letter {
        case air(Air.Input)
        case host(LEHost.Input, Air.Station)
    }

    init(
        _ first: First, _ second: Second,
        controllers: [VirtualController.Configuration] = (1...2).map {
            .init(address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64($0)))
        }
    ) {
        self.first = first
        self.second = second
        now = Instant(sinceBoot: .seconds(100))
        air = Air(controllers, seed: 0, at: now)
        for station in 0..<2 { carry(.host(.transportOpened, station)) }
    }

    /// Puts the hosts out of reach. Links last for the supervision timeout, which is 6 seconds by default.
    mutating func setReachable(_ isReachable: Bool) { carry(.air(.setReachable(1, isReachable))) }

    /// Advances the clock from timer to timer until the condition holds.
    ///
    /// - Returns: whether the condition came to hold in time; if not, exactly that much time has passed.
    @discardableResult
    mutating func run(
        atMost limit: Duration = .seconds(600), until condition: (Self) -> Bool = { _ in false }
    ) -> Bool {
        let end = now + limit
        while !condition(self) {
            guard let next = ([airTimer] + hostTimers).compactMap({ $0 }).min(), next <= end else {
                now = end
                return condition(self)
            }
            now = max(now, next)
            if let timer = airTimer, timer <= now {
                airTimer = nil
                carry(.air(.timerFired))
            }
            for station in 0..<2 {
                guard let timer = hostTimers[station], timer <= now else { continue }
                hostTimers[station] = nil
                carry(.host(.timerFired, station))
            }
        }
        return true
    }

    /// Handles an input and everything that it causes, one after another.
    private mutating func carry(_ letter: Letter) {
        letters.append(letter)
        while !letters.isEmpty {
            switch letters.removeFirst() {
            case .air(let input): for effect in air.handle(input, at: now) { take(effect) }
            case .host(let input, 0): for effect in first.handle(input, at: now) { take(effect, of: 0) }
            case .host(let input, let station):
                for effect in second.handle(input, at: now) { take(effect, of: station) }
            }
        }
    }

    private mutating func take(_ effect: Air.Effect) {
        switch effect {
        case .send(let packet, let station): letters.append(.host(.received(packet), station))
        case .setTimer(let instant): airTimer = instant
        case .cancelTimer: airTimer = nil
        case .violation(let station, let text): violations.append("\(station): \(text)")
        }
    }

    private mutating func take(_ effect: LEHost.Effect, of station: Air.Station) {
        switch effect {
        case .send(let packet): letters.append(.air(.received(packet, from: station)))
        case .setTimer(let instant): hostTimers[station] = instant
        case .cancelTimer: hostTimers[station] = nil
        case .event: break
        }
    }
}
