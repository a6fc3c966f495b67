import BluetoothHost
public import ButtonModel
public import Flic

/// The virtual controllers of hosts, usually one, and simulated buttons within their range, each with its own virtual controller.
///
/// It is one value with one timer. It contains the `Air` with its controllers, and a `SimulatedButton` behind each
/// controller except those of the hosts. HCI packets between a button and its controller take no time; everything that takes
/// time (air, fingers, advertising) is a deadline, and the timer is the earliest of them.
///
/// | on                    | we                                                                          |
/// |-----------------------|-----------------------------------------------------------------------------|
/// | any input             | handle what is due, then the input, then pass packets on until none is left |
/// | a packet of the host  | pass it to the host's controller, and emit its packets                      |
/// | a press               | add it to the queue of the button's finger                                  |
/// | a fault, a voltage    | pass it to the button                                                       |
/// | out of reach, or back | disconnect the button's controller from the air, or connect it again        |
/// | an unknown button     | emit `unknownButton`                                                        |
///
/// The same buttons, seed and inputs give the same effects.
public struct SimulatedWorld: Sendable {
    public enum Input: Hashable, Sendable {
        /// An HCI packet from the host with that number, with its H4 indicator.
        case received([UInt8], host: Int = 0)
        /// The small button exists only on a Duo.
        case press(button: String, SimulatedPress, part: ButtonPart = .big)
        /// A press with a swipe, which only a Duo recognises.
        case swipe(button: String, SwipeDirection, part: ButtonPart = .big)
        /// Turns the dial of a Twist, or a Duo while one of its buttons is down, by hundredths of a turn, clockwise
        /// positive.
        case turn(button: String, hundredths: Int)
        /// Presses the button, turns it, and releases it shortly afterwards.
        case pushTurn(button: String, hundredths: Int, part: ButtonPart = .big)
        /// The button leaves the range of the radio (its links end by supervision timeout), or comes back.
        case setReachable(button: String, Bool)
        /// The strength in dBm with which a host and a button hear each other; `nil`: they do not.
        case setSignal(button: String, host: Int, Int8?)
        /// The new voltage of the button's battery.
        case setBattery(button: String, millivolts: Int)
        case fault(button: String, SimulatedFault)
        /// A fault of the host's controller.
        case controllerFault(ControllerFault, host: Int = 0)
        /// The host's controller lost power, as when its adapter is unplugged or reset.
        case powerCycled(host: Int = 0)
        case timerFired
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        /// An HCI packet to the host with that number.
        case send([UInt8], host: Int = 0)
        case setTimer(Instant)
        case cancelTimer
        /// The last movement of a press script was performed.
        case pressFinished(button: String, SimulatedPress)
        /// A description of what happened, for people.
        case note(button: String, String)
        /// There is no button with this name.
        case unknownButton(String)
    }

    public static let maximumViolations = 64
    /// The maximum number of packets that a call of `handle` passes on, per button. The rest is handled when the timer
    /// fires, which is immediately.
    static let maximumStepsPerButton = 512

    /// The host's violations of the HCI specification, oldest first; at most `maximumViolations`.
    public private(set) var violations: [String] = []

    private enum Step {
        case air(Air.Input)
        case button(Int, SimulatedButton.Input)
    }

    private var air: Air
    private var airDeadline: Instant?
    private var buttons: [SimulatedButton]
    private var buttonDeadlines: [Instant?]
    private let indices: [String: Int]
    private let hostCount: Int
    private var steps: [Step] = []
    private var timer = LogicalTimer()

    /// The first of several buttons with the same name receives the inputs. All randomness is derived from the seed.
    /// `controller` is the controller of host 0; its default address is from the range for documentation. `others` are the
    /// controllers of further hosts.
    public init(
        _ buttons: [SimulatedButtonDescription], seed: UInt64, at now: Instant,
        controller: VirtualController.Configuration = .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301)),
        others: [VirtualController.Configuration] = [], air configuration: Air.Configuration = .init()
    ) {
        hostCount = 1 + others.count
        let controllers = buttons.map { VirtualController.Configuration(address: $0.wantedAddress) }
        air = Air([controller] + others + controllers, configuration, seed: seed, at: now)
        self.buttons = buttons.map { SimulatedButton($0, seed: seed, at: now) }
        buttonDeadlines = buttons.map { _ in nil }
        indices = Dictionary(buttons.enumerated().map { ($1.name, $0) }) { first, _ in first }
        // The buttons open their transports with the first input.
        for index in buttons.indices { steps.append(.button(index, .transportOpened)) }
    }

    /// Handles an input after the timers that were due before it, each at its own time, so that a click does not become a hold
    /// when the machine is busy. What is later than `longestDelay`, as after a suspension of the machine, happens at `now`.
    package mutating func handleInTime(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        while let due = timer.armed, due < now, now - due < Self.longestDelay {
            effects += handle(.timerFired, at: due)
            // The time stands still while there are more packets than a call handles.
            if timer.armed == due { break }
        }
        return effects + handle(input, at: now)
    }

    private static let longestDelay = Duration.seconds(10)

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        if case .timerFired = input { timer.fired() }
        fireTimers(at: now)
        switch input {
        case .received(let packet, let host):
            if isHost(host) { steps.append(.air(.received(packet, from: host))) }
        case .press(let name, let press, let part): forward(name, .press(press, part: part), &effects)
        case .swipe(let name, let direction, let part): forward(name, .swipe(direction, part: part), &effects)
        case .turn(let name, let hundredths): forward(name, .turn(hundredths: hundredths), &effects)
        case .pushTurn(let name, let hundredths, let part):
            forward(name, .pushTurn(hundredths: hundredths, part: part), &effects)
        case .setBattery(let name, let millivolts): forward(name, .batteryChanged(millivolts: millivolts), &effects)
        case .fault(let name, let fault): forward(name, .fault(fault), &effects)
        case .setReachable(let name, let isReachable):
            if let index = indices[name] {
                steps.append(.air(.setReachable(station(of: index), isReachable)))
                effects.append(.note(button: name, isReachable ? "in reach" : "out of reach"))
            } else {
                effects.append(.unknownButton(name))
            }
        case .setSignal(let name, let host, let rssi):
            if let index = indices[name] {
                if isHost(host) { steps.append(.air(.setSignal(host, station(of: index), rssi))) }
            } else {
                effects.append(.unknownButton(name))
            }
        case .controllerFault(let fault, let host):
            if isHost(host) { steps.append(.air(.fault(host, fault))) }
        case .powerCycled(let host):
            if isHost(host) { steps.append(.air(.powerCycled(host))) }
        case .timerFired:
            break
        }
        run(at: now, &effects)
        timer.appendChange(for: deadline(at: now), to: &effects)
        return effects
    }

    /// The stored events of a button; `nil` if the button is unknown, and until its controller is set up.
    public func eventSnapshot(of button: String) -> EventSnapshot? {
        indices[button].flatMap { buttons[$0].peripheral?.eventSnapshot }
    }

    /// The state of a Twist's dial; `nil` for other or unknown buttons, and until its controller is set up.
    public func dialSnapshot(of button: String) -> DialSnapshot? {
        indices[button].flatMap { buttons[$0].peripheral?.dialSnapshot }
    }

    /// The number of connection events in which a button took part, which is what links cost its battery. It is 0 unless
    /// the air has connection events.
    public func connectionEvents(of button: String, at now: Instant) -> Int? {
        indices[button].map { air.connectionEvents(of: station(of: $0), at: now) }
    }

    private mutating func forward(_ name: String, _ input: SimulatedButton.Input, _ effects: inout [Effect]) {
        if let index = indices[name] {
            steps.append(.button(index, input))
        } else {
            effects.append(.unknownButton(name))
        }
    }

    /// The stations of the hosts come first.
    private func isHost(_ station: Air.Station) -> Bool { (0..<hostCount).contains(station) }
    private func station(of button: Int) -> Air.Station { button + hostCount }

    private func deadline(at now: Instant) -> Instant? {
        guard steps.isEmpty else { return now }
        return buttonDeadlines.reduce(airDeadline, earliest)
    }

    private mutating func fireTimers(at now: Instant) {
        if let deadline = airDeadline, deadline <= now {
            airDeadline = nil
            steps.append(.air(.timerFired))
        }
        for (index, deadline) in buttonDeadlines.enumerated() {
            guard let deadline, deadline <= now else { continue }
            buttonDeadlines[index] = nil
            steps.append(.button(index, .timerFired))
        }
    }

    /// Passes packets between buttons and controllers until none is left.
    private mutating func run(at now: Instant, _ effects: inout [Effect]) {
        let maximumSteps = Self.maximumStepsPerButton * (buttons.count + 1)
        var done = 0
        while done < steps.count, done < maximumSteps {
            let step = steps[done]
            done += 1
            switch step {
            case .air(let input): runAir(input, at: now, &effects)
            case .button(let index, let input): runButton(index, input, at: now, &effects)
            }
        }
        steps.removeFirst(done)
    }

    private mutating func runAir(_ input: Air.Input, at now: Instant, _ effects: inout [Effect]) {
        for effect in air.handle(input, at: now) {
            switch effect {
            case .send(let packet, let station) where isHost(station):
                effects.append(.send(packet, host: station))
            case .send(let packet, let station): steps.append(.button(station - hostCount, .received(packet)))
            case .setTimer(let instant): airDeadline = instant
            case .cancelTimer: airDeadline = nil
            case .violation(let station, let text): recordViolation(by: station, text, &effects)
            }
        }
    }

    private mutating func runButton(
        _ index: Int, _ input: SimulatedButton.Input, at now: Instant, _ effects: inout [Effect]
    ) {
        guard buttons.indices.contains(index) else { return }
        let name = buttons[index].description.name
        for effect in buttons[index].handle(input, at: now) {
            switch effect {
            case .send(let packet): steps.append(.air(.received(packet, from: station(of: index))))
            case .setTimer(let instant): buttonDeadlines[index] = instant
            case .cancelTimer: buttonDeadlines[index] = nil
            case .pressFinished(let press): effects.append(.pressFinished(button: name, press))
            case .note(let text): effects.append(.note(button: name, text))
            case .failed(let text): effects.append(.note(button: name, "its controller cannot be used: \(text)"))
            }
        }
    }

    private mutating func recordViolation(by station: Air.Station, _ text: String, _ effects: inout [Effect]) {
        guard isHost(station) else {
            effects.append(.note(button: buttons[station - hostCount].description.name, "its host: \(text)"))
            return
        }
        if violations.count < Self.maximumViolations { violations.append(text) }
    }
}
