package import ButtonModel

/// The radio of the program, of the kind that was opened last: a controller of our own over HCI, or an adapter that BlueZ
/// shares.
package struct RadioMachine: Sendable {
    private var hci: HCIRadio
    private var bluez = BlueZRadio()
    private var usesBlueZ = false

    /// - Parameter maximumLinks: `nil`: as many as the controller supports. BlueZ decides by itself.
    package init(maximumLinks: Int? = nil) { hci = HCIRadio(maximumLinks: maximumLinks) }

    package mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioEffect] {
        switch input {
        case .transportOpened: usesBlueZ = false
        case .busOpened: usesBlueZ = true
        // Each radio remembers what it is to do when it is opened.
        case .perform(.listen), .perform(.expect), .perform(.forget), .perform(.discardDiscovery), .closed:
            return hci.handle(input, at: now) + bluez.handle(input, at: now)
        case .received, .bus, .timerFired, .perform(.write), .perform(.disconnect), .perform(.measureSignal),
            .perform(.keepDiscovery):
            break
        }
        return usesBlueZ ? bluez.handle(input, at: now) : hci.handle(input, at: now)
    }

    /// True while the radio holds back packets to the button of a link. BlueZ does not tell.
    package func holdsBackData(for id: LinkID) -> Bool { !usesBlueZ && hci.holdsBackData(for: id) }

    /// The notification that `handle` will report for an input, without changing the radio; `nil` if only `handle` knows it.
    package func preview(_ input: RadioInput) -> (link: LinkID, value: ArraySlice<UInt8>)? {
        switch input {
        case .received(let packet): usesBlueZ ? nil : hci.preview(packet)
        case .bus(.received(let id, let value)): usesBlueZ ? bluez.preview(id, value) : nil
        case .transportOpened, .busOpened, .bus, .closed, .timerFired, .perform: nil
        }
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] { hci.problems() + bluez.problems() }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> { hci.reportedLinks.union(bluez.reportedLinks) }
    #endif
}
