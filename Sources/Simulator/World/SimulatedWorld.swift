import BluetoothHost
public import ButtonModel
public import Flic

/// A controller for the host under test, and buttons in its air, each with a controller of its own.
///
/// The whole of it is one pure machine with one timer: `Air` and its controllers, and a `SimulatedButton` behind
/// each controller but the first. HCI packets between a button and its controller take no time and never leave;
/// everything that does take time (air, fingers, advertising) is a deadline, and the earliest is the timer.
///
/// | on                    | we                                                                            |
/// |-----------------------|-------------------------------------------------------------------------------|
/// | any input             | first fire what is due, then take the input, then hand packets on until all is quiet |
/// | a packet of the host  | give it to the host's controller, and tell what it answers                    |
/// | a press               | queue it at the button's finger                                               |
/// | a fault, a voltage    | give it to the button                                                         |
/// | out of reach, or back | cut the button's controller off from the air, or join it again                |
/// | an unknown button     | say so, and do nothing                                                        |
///
/// The same buttons, seed and inputs give the same effects.
public struct SimulatedWorld: Sendable {
    public enum Input: Hashable, Sendable {
        /// One HCI packet from the host, with its H4 indicator.
        case received([UInt8])
        /// Only a Duo has a small button, too.
        case press(button: String, SimulatedPress, part: ButtonPart = .big)
        /// A press during which the hand moves. Only a Duo notices that.
        case swipe(button: String, SwipeDirection, part: ButtonPart = .big)
        /// The dial of a Twist is turned by so many hundredths of a whole turn, or a Duo of which a button is down;
        /// positive: clockwise.
        case turn(button: String, hundredths: Int)
        /// The same while it is pressed; it is let go a little later.
        case pushTurn(button: String, hundredths: Int, part: ButtonPart = .big)
        /// The button goes out of reach (links end by supervision timeout) or comes back.
        case setReachable(button: String, Bool)
        /// The voltage of its battery, as it is from now on.
        case setBattery(button: String, millivolts: Int)
        case fault(button: String, SimulatedFault)
        /// Something goes wrong in the host's controller.
        case controllerFault(ControllerFault)
        /// The host's controller was without power, as when its adapter is unplugged or reset.
        case powerCycled
        case timerFired
    }

    public enum Effect: Hashable, Sendable {
        /// One HCI packet to the host.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// The last movement of a press script has happened.
        case pressFinished(button: String, SimulatedPress)
        /// Something happened that a person watching would like to read.
        case note(button: String, String)
        /// No button of that name.
        case unknownButton(String)
    }

    public static let maximumViolations = 64
    /// Packets handed on inside one `handle`, for each button. What is over waits for the timer, which is due at once.
    static let maximumStepsPerButton = 512

    /// What the host under test did that no host may, oldest first: at most `maximumViolations` are kept.
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
    private var steps: [Step] = []
    private var timer = LogicalTimer()

    /// Of two buttons with one name the first can be pressed. Everything random in the world comes from the seed. The
    /// controller is the host's; by default one with an address from the block for documentation.
    public init(
        _ buttons: [SimulatedButtonDescription], seed: UInt64, at now: Instant,
        controller: VirtualController.Configuration = .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301)),
        air configuration: Air.Configuration = .init()
    ) {
        let controllers = buttons.map { VirtualController.Configuration(address: $0.wantedAddress) }
        air = Air([controller] + controllers, configuration, seed: seed, at: now)
        self.buttons = buttons.map { SimulatedButton($0, seed: seed, at: now) }
        buttonDeadlines = buttons.map { _ in nil }
        indices = Dictionary(buttons.enumerated().map { ($1.name, $0) }) { first, _ in first }
        // The buttons wake up with the first input.
        for index in buttons.indices { steps.append(.button(index, .transportOpened)) }
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        if case .timerFired = input { timer.fired() }
        fireTimers(at: now)
        switch input {
        case .received(let packet):
            steps.append(.air(.received(packet, from: Self.host)))
        case .press(let name, let press, let part): tell(name, .press(press, part: part), &effects)
        case .swipe(let name, let direction, let part): tell(name, .swipe(direction, part: part), &effects)
        case .turn(let name, let hundredths): tell(name, .turn(hundredths: hundredths), &effects)
        case .pushTurn(let name, let hundredths, let part):
            tell(name, .pushTurn(hundredths: hundredths, part: part), &effects)
        case .setBattery(let name, let millivolts): tell(name, .batteryChanged(millivolts: millivolts), &effects)
        case .fault(let name, let fault): tell(name, .fault(fault), &effects)
        case .setReachable(let name, let isReachable):
            if let index = indices[name] {
                steps.append(.air(.setReachable(Self.station(of: index), isReachable)))
                effects.append(.note(button: name, isReachable ? "in reach" : "out of reach"))
            } else {
                effects.append(.unknownButton(name))
            }
        case .controllerFault(let fault):
            steps.append(.air(.fault(Self.host, fault)))
        case .powerCycled:
            steps.append(.air(.powerCycled(Self.host)))
        case .timerFired:
            break
        }
        run(at: now, &effects)
        switch timer.rearm(for: deadline(at: now)) {
        case .set(let instant): effects.append(.setTimer(instant))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        return effects
    }

    /// What the button knows of its events; `nil` for an unknown one, and before its controller is set up.
    public func eventMemory(of button: String) -> EventMemory? {
        indices[button].flatMap { buttons[$0].peripheral?.eventMemory }
    }

    /// Where the dial of a Twist stands; `nil` for other buttons, unknown ones, and before the controller is set up.
    public func dialMemory(of button: String) -> DialMemory? {
        indices[button].flatMap { buttons[$0].peripheral?.dialMemory }
    }

    private mutating func tell(_ name: String, _ input: SimulatedButton.Input, _ effects: inout [Effect]) {
        if let index = indices[name] {
            steps.append(.button(index, input))
        } else {
            effects.append(.unknownButton(name))
        }
    }

    private static let host: Air.Station = 0
    private static func station(of button: Int) -> Air.Station { button + 1 }

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

    /// Hands packets on between buttons and controllers until nobody has one.
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
            case .send(let packet, Self.host): effects.append(.send(packet))
            case .send(let packet, let station): steps.append(.button(station - 1, .received(packet)))
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
            case .send(let packet): steps.append(.air(.received(packet, from: Self.station(of: index))))
            case .setTimer(let instant): buttonDeadlines[index] = instant
            case .cancelTimer: buttonDeadlines[index] = nil
            case .pressFinished(let press): effects.append(.pressFinished(button: name, press))
            case .note(let text): effects.append(.note(button: name, text))
            case .failed(let text): effects.append(.note(button: name, "its controller cannot be used: \(text)"))
            }
        }
    }

    private mutating func recordViolation(by station: Air.Station, _ text: String, _ effects: inout [Effect]) {
        guard station == Self.host else {
            effects.append(.note(button: buttons[station - 1].description.name, "its host: \(text)"))
            return
        }
        if violations.count < Self.maximumViolations { violations.append(text) }
    }
}
