import ButtonModel
import FlicdProtocol
import JSON

/// An event of the connection to a flicd.
package enum SourceInput: Hashable, Sendable {
    /// - Parameter bootID: a random number for this connection.
    case connected(bootID: UInt32)
    case received([UInt8])
    /// Connecting failed, or the connection ended; the reason is a sentence for users.
    case closed(String)
}

/// A command to the connection to a flicd.
package enum SourceEffect: Hashable, Sendable {
    /// Answered with `connected` or `closed`.
    case connect
    case send([UInt8])
    /// Close the connection. No further `SourceInput` follows.
    case close
}

/// A flicd from which buttons come.
struct FlicdUpstream: Sendable {
    /// The URL in the configuration.
    let name: String
    private var flicd = FlicdSource()
    /// The state of the flicd's Bluetooth controller; `nil` while there is no connection.
    private(set) var controller: FlicdControllerState?
    /// Why there is no connection; a sentence for users.
    private(set) var fault: String?
    /// Buttons of this flicd that are not used here: they belong to the own adapter or another source, or are too many.
    private(set) var foreign: Set<ButtonID> = []

    init(name: String) { self.name = name }

    var isConnected: Bool { flicd.isConnected }
    /// True if new buttons are searched for by the flicd, or will be when it is connected.
    var isSearching: Bool { flicd.isSearching }

    mutating func handle(_ input: FlicdSource.Input, at now: Instant) -> [FlicdSource.Effect] {
        flicd.handle(input, at: now)
    }

    /// The state of the flicd's controller has changed.
    ///
    /// - Parameter state: `nil`: there is no connection.
    /// - Returns: whether it is to be logged, because the flicd works and did not before, or the reverse.
    mutating func controllerChanged(to state: FlicdControllerState?) -> Bool {
        let before = controller
        controller = state
        guard let state else { return false }
        fault = nil
        return before == nil || (before == .attached) != (state == .attached)
    }

    /// The connection to the flicd could not be made, or has ended.
    ///
    /// - Parameter reason: a sentence for users.
    /// - Returns: whether the reason is another than before.
    mutating func lost(_ reason: String) -> Bool {
        let before = fault
        fault = "\(name): \(reason)"
        foreign = []
        return fault != before
    }

    /// Leaves a button of the flicd alone, because it belongs to the own adapter or to another flicd, or is one too many.
    ///
    /// - Returns: whether it was not left alone before.
    mutating func leaveAlone(_ button: ButtonID) -> Bool { foreign.insert(button).inserted }

    var described: JSONValue {
        [
            "url": .string(name), "connected": .bool(controller != nil),
            "adapter": .string(controller?.name ?? "unknown"), "fault": fault.map { .string($0) } ?? .null,
        ]
    }
}

extension FlicdControllerState {
    /// The name of the controller state in `status` and MQTT.
    var name: String {
        switch self {
        case .detached: "powered_off"
        case .resetting: "resetting"
        case .attached: "powered_on"
        }
    }
}
