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
    /// Nothing is reported after this.
    case close
}

/// A flicd from which buttons come.
struct FlicdUpstream: Sendable {
    /// The URL in the configuration.
    let name: String
    var flicd = FlicdSource()
    /// The state of the flicd's Bluetooth controller; `nil` while there is no connection.
    var controller: FlicdControllerState?
    /// Why there is no connection; a sentence for users.
    var fault: String?
    /// Buttons of this flicd that are not used here: they belong to the own adapter or another source, or are too many.
    var foreign: Set<ButtonID> = []

    init(name: String) { self.name = name }

    var isConnected: Bool { flicd.isConnected }
    /// True if new buttons are searched for by the flicd, or will be when it is connected.
    var isSearching: Bool { flicd.isSearching }

    var described: JSONValue {
        [
            "url": .string(name), "connected": .bool(controller != nil),
            "adapter": .string(controller?.word ?? "unknown"), "fault": fault.map { .string($0) } ?? .null,
        ]
    }
}

extension FlicdControllerState {
    /// The name of the controller state in `status` and MQTT.
    var word: String {
        switch self {
        case .detached: "powered_off"
        case .resetting: "resetting"
        case .attached: "powered_on"
        }
    }
}
