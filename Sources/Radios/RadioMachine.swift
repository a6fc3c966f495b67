package import ButtonModel
package import ESPHome

/// The kind of a radio, which selects its machine.
package enum RadioKind: Hashable, Sendable {
    /// An adapter of this machine, or one that is reached over HCI. `nil`: as many links as the
    /// controller supports, which BlueZ does not tell.
    ///
    /// - Parameter isBehindProgram: whether a program connects to the adapter, such as `ssh`, which may take some seconds.
    case local(maximumLinks: Int? = nil, isBehindProgram: Bool = false)
    /// An ESPHome Bluetooth proxy; without a key it is not encrypted. `nil`: as many links as the proxy has slots.
    case esphome(key: ESPHomeKey?, maximumLinks: Int? = nil)

    package var maximumLinks: Int? {
        switch self {
        case .local(let maximumLinks, _), .esphome(_, let maximumLinks): maximumLinks
        }
    }

    fileprivate var resetTimeout: Duration {
        switch self {
        case .local(_, isBehindProgram: true): .seconds(20)
        case .local(_, isBehindProgram: false), .esphome: .seconds(2)
        }
    }

    package var isProxy: Bool {
        switch self {
        case .local: false
        case .esphome: true
        }
    }
}

/// The machine of a radio: `HCIRadio` or `BlueZRadio` for an adapter, depending on how the adapter was last opened, or
/// `ESPHomeRadio` for a proxy.
///
/// It is a struct that contains all three, so that a machine changes in place and is not copied.
package struct RadioMachine: Sendable {
    private enum Choice {
        case hci
        case bluez
        case esphome
    }

    private var hci: HCIRadio
    private var bluez: BlueZRadio
    private var esphome: ESPHomeRadio
    private var choice: Choice

    package init(_ id: RadioID = .first, _ kind: RadioKind) {
        hci = HCIRadio(id, maximumLinks: kind.maximumLinks, resetTimeout: kind.resetTimeout)
        bluez = BlueZRadio(id, maximumLinks: kind.maximumLinks)
        switch kind {
        case .local:
            choice = .hci
            esphome = ESPHomeRadio(id, key: nil)
        case .esphome(let key, let maximumLinks):
            choice = .esphome
            esphome = ESPHomeRadio(id, key: key, maximumLinks: maximumLinks)
        }
    }

    /// True if the radio connects to expected buttons by itself. False if its owner has to request a connection whenever a button
    /// was heard.
    package var connectsByItself: Bool { choice != .esphome }

    /// True if a notification of a button may be lost on its way: in a proxy whose buffers are full.
    var mayLoseNotifications: Bool { choice == .esphome }

    /// True for an adapter that other programs use, too, through BlueZ.
    var isShared: Bool { choice == .bluez }

    package mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioEffect] {
        guard choice != .esphome else { return esphome.handle(input, at: now) }
        switch input {
        case .transportOpened: choice = .hci
        case .busOpened: choice = .bluez
        // Each radio remembers what it is to do when it is opened.
        case .perform(.listen), .perform(.expect), .perform(.forget), .perform(.discardDiscovery), .closed:
            return hci.handle(input, at: now) + bluez.handle(input, at: now)
        case .received, .bus, .timerFired, .perform(.write), .perform(.disconnect), .perform(.update),
            .perform(.measureSignal), .perform(.keepDiscovery), .perform(.attempt), .perform(.pin),
            .perform(.restoreHome), .perform(.goodbye):
            break
        }
        return choice == .bluez ? bluez.handle(input, at: now) : hci.handle(input, at: now)
    }

    /// True while the radio holds back packets to the button of a link. Only a controller of our own tells.
    package func holdsBackData(for id: LinkID) -> Bool { choice == .hci && hci.holdsBackData(for: id) }

    /// The notification that `handle` will report for an input, without changing the radio; `nil` if only `handle` knows it.
    package mutating func preview(_ input: RadioInput) -> (link: LinkID, value: ArraySlice<UInt8>)? {
        switch input {
        case .received(let packet): choice == .hci ? hci.preview(packet) : nil
        case .bus(.received(let id, let value)): choice == .bluez ? bluez.preview(id, value) : nil
        case .transportOpened, .busOpened, .bus, .closed, .timerFired, .perform: nil
        }
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] { hci.problems() + bluez.problems() + esphome.problems() }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> {
            hci.reportedLinks.union(bluez.reportedLinks).union(esphome.reportedLinks)
        }
    #endif
}
