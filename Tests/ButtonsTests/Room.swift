package import ButtonModel
package import Buttons
import Radios
import Simulator
import TestSupport
import Testing

extension ButtonManager: StateMachine {
    /// An event that is previewed must be reported alone, with the same cursor.
    package mutating func expectation(of input: Input, at now: Instant) -> (([Effect]) -> Bool)? {
        guard let preview = preview(input, at: now) else { return nil }
        return { effects in
            let reports = effects.compactMap { effect -> (ButtonID, [ButtonEvent], EventCursor)? in
                guard case .events(let button, let events, let cursor, _) = effect else { return nil }
                return (button, events, cursor)
            }
            return reports.count == 1 && reports[0] == (preview.event.button, [preview.event], preview.cursor)
        }
    }
}

/// The button manager and a simulated air with buttons in it, on one clock wound by hand.
struct Room {
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private(set) var manager: ButtonManager
    private(set) var world: SimulatedWorld
    /// Everything the manager said but packets and timers, in order.
    private(set) var said: [ButtonManager.Effect] = []
    private var managerTimer, worldTimer: Instant?
    private var managerInputs: [ButtonManager.Input] = []
    private var worldInputs: [SimulatedWorld.Input] = []
    private var random: SeededGenerator
    /// Events are acknowledged at once, as a store would that never fails.
    var storesAtOnce = true
    /// Changes the pairing identifier in quick verify requests on the air, so that the button does not know the
    /// pairing.
    var spoilsQuickVerify = false
    /// So many responses to a quick verify arrive with another opcode, which means nothing there.
    var spoiltQuickVerifyResponses = 0
    /// The number of notifications that will be lost on the way.
    var lostNotifications = 0
    /// The next write of a descriptor meets another attribute table than the one that was looked at.
    var spoilsSubscription = false
    /// ATT requests sent, by opcode.
    private(set) var requests: [UInt8] = []
    /// The interval of each scan that began, in 0.625 ms, and `nil` for each end.
    private(set) var scans: [UInt16?] = []
    private var scanInterval: UInt16 = 0
    /// The longest interval of each update of a link, in 1.25 ms.
    private(set) var linkIntervals: [UInt16] = []
    /// The number of packets whose event was known before they were handled.
    private(set) var previewCount = 0
    /// Random octets are handed out when they are asked for.
    private let givesEntropy: Bool

    init(
        _ buttons: [SimulatedButtonDescription], trustRoots: [[UInt8]] = [SimulatorRoot.publicKey],
        known: [KnownButton] = [], seed: UInt64 = 1, entropy: Int = 2048, givesEntropy: Bool = true,
        acceptListSize: UInt8 = 16, links: Int = 8, maximumLinks: Int? = nil,
        faults: VirtualController.Faults = .init()
    ) {
        manager = ButtonManager(
            extraTrustRoots: trustRoots, radios: [.local(maximumLinks: maximumLinks)])
        world = SimulatedWorld(
            buttons, seed: seed, at: now,
            controller: VirtualController.Configuration(
                address: BluetoothAddress(rawValue: 0x0000_5E00_5301), acceptListSize: acceptListSize,
                maximumLinks: links, faults: faults))
        random = SeededGenerator(seed: seed)
        self.givesEntropy = givesEntropy
        tell(.entropy(random.bytes(entropy)))
        tell(.restored(known))
        tell(.transportOpened())
    }

    mutating func tell(_ input: ButtonManager.Input) {
        managerInputs.append(input)
        settle()
    }

    mutating func press(_ button: String, _ press: SimulatedPress, part: ButtonPart = .big) {
        worldInputs.append(.press(button: button, press, part: part))
        settle()
    }

    mutating func swipe(_ button: String, _ direction: SwipeDirection, part: ButtonPart = .big) {
        worldInputs.append(.swipe(button: button, direction, part: part))
        settle()
    }

    mutating func turn(_ button: String, hundredths: Int) {
        worldInputs.append(.turn(button: button, hundredths: hundredths))
        settle()
    }

    mutating func pushTurn(_ button: String, hundredths: Int, part: ButtonPart = .big) {
        worldInputs.append(.pushTurn(button: button, hundredths: hundredths, part: part))
        settle()
    }

    mutating func reach(_ button: String, _ isReachable: Bool) {
        worldInputs.append(.setReachable(button: button, isReachable))
        settle()
    }

    /// The button leaves. Half a minute later it comes back, and is clicked.
    ///
    /// - Parameter absent: what happens before it comes back; what was said by then is forgotten.
    mutating func leaveAndReturn(_ button: String, _ absent: (inout Room) -> Void = { _ in }) {
        reach(button, false)
        wait(.seconds(30))
        forget()
        absent(&self)
        reach(button, true)
        press(button, .click)
    }

    mutating func breakController(_ fault: ControllerFault) {
        worldInputs.append(.controllerFault(fault))
        settle()
    }

    /// The adapter is pulled out, and put in again.
    mutating func unplug() {
        worldInputs.append(.powerCycled())
        tell(.transportClosed())
    }

    /// Commands: indicator, opcode, length, parameters.
    private mutating func note(_ packet: [UInt8]) {
        guard packet.count > 9 || packet.count == 6, packet[0] == 1 else { return }
        switch UInt16(packet[2]) << 8 | UInt16(packet[1]) {
        case 0x200B: scanInterval = UInt16(packet[6]) << 8 | UInt16(packet[5])
        case 0x200C: scans.append(packet[4] == 1 ? scanInterval : nil)
        case 0x2013: linkIntervals.append(UInt16(packet[9]) << 8 | UInt16(packet[8]))
        default: break
        }
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let next = [managerTimer, worldTimer].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if let timer = worldTimer, timer <= now {
                worldTimer = nil
                worldInputs.append(.timerFired)
            } else {
                managerTimer = nil
                managerInputs.append(.timerFired)
            }
            settle()
        }
        now = end
    }

    mutating func forget() {
        said = []
        requests = []
        scans = []
        linkIntervals = []
    }

    /// The progress of pairing, in order.
    var progress: [PairingProgress] {
        said.compactMap { if case .pairing(let progress) = $0 { progress } else { nil } }
    }

    var steps: [PressStep] {
        said.flatMap { effect -> [PressStep] in
            if case .events(_, let events, _, _) = effect { events.map(\.step) } else { [] }
        }
    }

    func states(of button: ButtonID) -> [ButtonState] {
        said.compactMap { if case .state(button, let state) = $0 { state } else { nil } }
    }

    private mutating func settle() {
        while !managerInputs.isEmpty || !worldInputs.isEmpty {
            if !worldInputs.isEmpty {
                for effect in world.handle(worldInputs.removeFirst(), at: now) {
                    switch effect {
                    case .send(let packet, _)
                    where lostNotifications > 0 && packet.count > 9 && packet[0] == 2
                        && packet[9] == 0x1B:
                        lostNotifications -= 1
                    case .send(var packet, _):
                        // Indicator, ACL and L2CAP headers, notification, attribute; frame header, opcode 8.
                        if spoiltQuickVerifyResponses > 0, packet.count > 13, packet[0] == 2, packet[9] == 0x1B,
                            packet[13] == 8
                        {
                            spoiltQuickVerifyResponses -= 1
                            packet[13] = 0xFE
                        }
                        managerInputs.append(.received(packet))
                    case .setTimer(let deadline): worldTimer = deadline
                    case .cancelTimer: worldTimer = nil
                    case .pressFinished, .note, .unknownButton: break
                    }
                }
            } else {
                let input = managerInputs.removeFirst()
                if manager.preview(input, at: now) != nil { previewCount += 1 }
                for effect in manager.checked(input, at: now) { took(effect) }
            }
        }
    }

    private mutating func took(_ effect: ButtonManager.Effect) {
        switch effect {
        case .send(var packet, _):
            // Indicator, ACL and L2CAP headers, Write Command; frame header, opcode 5; the identifier is at 14.
            if spoilsQuickVerify, packet.count == 30, packet[0] == 2, packet[9] == 0x52, packet[13] == 5 {
                packet[26] ^= 0xFF
            }
            if packet.count > 11, packet[0] == 2, packet[7] == 4, packet[8] == 0 {
                requests.append(packet[9])
                if spoilsSubscription, packet[9] == 0x12 {
                    spoilsSubscription = false
                    packet[10] = 0xFF
                }
            }
            note(packet)
            worldInputs.append(.received(packet))
        case .setTimer(let deadline): managerTimer = deadline
        case .cancelTimer: managerTimer = nil
        case .needsEntropy: if givesEntropy { managerInputs.append(.entropy(random.bytes(1024))) }
        case .events(let button, _, let cursor, true):
            said.append(effect)
            if storesAtOnce { managerInputs.append(.synced(button, cursor)) }
        default: said.append(effect)
        }
    }
}
