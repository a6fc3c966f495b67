import ButtonModel
import JSON
import Radios

/// The slots of all radios of the configuration, and what concerns several radios.
struct RadioSlots: Sendable {
    private(set) var slots: [RadioSlot]
    /// The connection counts of each radio, in the order of `slots`. They are a separate array to keep `slots` small, because each
    /// press reads `slots` and no press reads the counts.
    private(set) var connections: [RadioConnections]
    /// The radio that connected each button last, and how often it was another radio than the time before.
    private(set) var carriers: [ButtonID: (radio: RadioID, changeCount: Int)] = [:]
    /// The buttons that have no link because their radio has no room for all.
    private(set) var buttonsWithoutLink: Set<ButtonID> = []
    /// The radio that has each button or looks for it. It is not needed if the only radio is an adapter of this machine.
    private var assigned: [ButtonID: RadioID] = [:]
    /// True if the radios have to stay closed, because presses could not be recorded.
    private(set) var isHeldClosed = false
    /// Buttons whose links ended with a timeout while the current input is handled.
    private var timedOutLinks: [ButtonID] = []
    private var hasChanged = false

    init(_ radios: [ConfiguredRadio]) {
        slots = radios.map { RadioSlot($0) }
        connections = Array(repeating: RadioConnections(), count: radios.count)
    }

    var ids: [RadioID] { slots.indices.map { RadioID(rawValue: UInt8($0)) } }
    subscript(id: RadioID) -> RadioSlot { slots[Int(id.rawValue)] }

    /// True if a radio is ready.
    var isReady: Bool { slots.contains(where: \.isReady) }
    var readyCount: Int { slots.count(where: \.isReady) }
    var resetCount: Int { slots.reduce(0) { $0 + $1.history.resets } }

    /// The radio that stands for all where only one is shown: the first that is ready, else the first that is open, else the
    /// first.
    var best: RadioSlot {
        slots.first(where: \.isReady) ?? slots.first(where: \.isOpen) ?? slots.first ?? RadioSlot(.none)
    }

    /// The sentences of the radios that are down, with the name of the radio if there are several.
    var faults: [String] {
        slots.compactMap { slot in
            guard case .down(_, let reason) = slot.state else { return nil }
            return slots.count == 1 ? reason : "\(slot.radio.name): \(reason)"
        }
    }

    mutating func assign(_ button: ButtonID, to radio: RadioID?) { assigned[button] = radio }

    /// The radio that looks for a button of ours or has it; `nil` if none is ready.
    func radio(of button: ButtonID) -> RadioID? {
        let radio = slots.count == 1 && !slots[0].radio.kind.isProxy ? RadioID.first : assigned[button]
        return radio.flatMap { $0.rawValue < slots.count && self[$0].isReady ? $0 : nil }
    }

    /// True if something that the metrics show may have changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    mutating func opened(_ id: RadioID, isShared: Bool) {
        hasChanged = true
        slots[Int(id.rawValue)].opened(isShared: isShared)
        connections[Int(id.rawValue)].opened()
    }

    mutating func becameReady(
        _ id: RadioID, _ address: BluetoothAddress, _ description: String = "", at now: Instant
    ) {
        hasChanged = true
        slots[Int(id.rawValue)].becameReady(address, description, at: now)
    }

    /// - Returns: whether this is a new fault.
    mutating func becameUnusable(
        _ id: RadioID, _ reason: String, _ fault: AdapterFault, time: UTCTime, at now: Instant
    ) -> Bool {
        hasChanged = true
        return slots[Int(id.rawValue)].becameUnusable(reason, fault, time: time, at: now)
    }

    /// The radio has reported how many links it can have.
    mutating func linkLimitReported(_ id: RadioID, _ limit: Int) {
        hasChanged = true
        slots[Int(id.rawValue)].linkLimitReported(limit)
    }

    mutating func connected(_ id: RadioID, after duration: Duration) {
        guard id.rawValue < connections.count else { return }
        hasChanged = true
        connections[Int(id.rawValue)].connected(after: duration)
    }

    /// - Returns: true if the radio has begun to connect nothing: `RadioConnections.advice`.
    mutating func connectFailed(_ id: RadioID, _ failure: ConnectFailure) -> Bool {
        guard id.rawValue < connections.count else { return false }
        hasChanged = true
        return connections[Int(id.rawValue)].failed(failure)
    }

    mutating func notificationLost(_ id: RadioID) {
        guard id.rawValue < connections.count else { return }
        hasChanged = true
        connections[Int(id.rawValue)].notificationLost()
    }

    /// The radio has connected a button that is paired with Tryck.
    mutating func connected(_ button: ButtonID, through radio: RadioID) {
        let before = carriers[button]
        carriers[button] = (
            radio, (before?.changeCount ?? 0) + (before.map { $0.radio != radio } == true ? 1 : 0)
        )
    }

    /// The button was removed.
    mutating func forget(_ button: ButtonID) {
        carriers[button] = nil
        assigned[button] = nil
    }

    /// - Returns: the consequences; there is no delay while the radios are held closed.
    mutating func closed(
        _ id: RadioID, _ reason: String, _ fault: AdapterFault, time: UTCTime, at now: Instant
    ) -> RadioSlot.Closing {
        hasChanged = true
        return slots[Int(id.rawValue)].closed(reason, fault, isHeldClosed: isHeldClosed, time: time, at: now)
    }

    /// - Returns: whether this is a change.
    mutating func holdClosed() -> Bool {
        defer { isHeldClosed = true }
        return !isHeldClosed
    }

    /// - Returns: whether this is a change.
    mutating func allowOpening() -> Bool {
        defer { isHeldClosed = false }
        return isHeldClosed
    }

    /// - Returns: the buttons that waited before.
    mutating func linkShortageChanged(_ waiting: Set<ButtonID>) -> Set<ButtonID> {
        defer { buttonsWithoutLink = waiting }
        return buttonsWithoutLink
    }

    mutating func linkTimedOut(_ button: ButtonID) { timedOutLinks.append(button) }

    /// Removes and returns the buttons whose links ended because the button was silent for the supervision timeout. There are
    /// none while no radio is ready, because the links of an adapter that is gone end for the same reason.
    mutating func takeTimedOutLinks() -> [ButtonID] {
        guard !timedOutLinks.isEmpty else { return [] }
        defer { timedOutLinks = [] }
        return isReady ? timedOutLinks : []
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems = slots.flatMap { $0.problems() }
            if isHeldClosed, slots.contains(where: \.isOpen) {
                problems.append("an adapter is open, and has to be closed")
            }
            if !timedOutLinks.isEmpty { problems.append("links that timed out were not reported") }
            return problems
        }
    #endif
}
