import ButtonModel
import FlicdProtocol
import JSON

/// What the connection to a flicd brings.
package enum SourceInput: Hashable, Sendable {
    /// - Parameter bootID: drawn for this connection.
    case connected(bootID: UInt32)
    case received([UInt8])
    /// It could not be made, or has ended; a sentence for people.
    case closed(String)
}

/// What is to be done with the connection to a flicd.
package enum SourceEffect: Hashable, Sendable {
    /// Answer with `connected` or `closed`.
    case connect
    case send([UInt8])
    /// Nothing is reported after this.
    case close
}

/// A flicd that buttons come from.
struct Source: Sendable {
    /// As the configuration says it.
    let name: String
    var flicd = FlicdSource()
    /// As it told last; `nil`: there is no connection.
    var controller: FlicdControllerState?
    /// Why there is no connection, when there is none; a sentence for people.
    var fault: String?
    /// Buttons that come in another way already.
    var foreign: Set<ButtonID> = []

    init(name: String) { self.name = name }

    var isConnected: Bool { flicd.isConnected }
    /// New buttons are looked for there, or will be when it is connected.
    var isSearching: Bool { flicd.isSearching }

    var described: JSONValue {
        [
            "url": .string(name), "connected": .bool(controller != nil),
            "adapter": .string(controller?.word ?? "unknown"), "fault": fault.map { .string($0) } ?? .null,
        ]
    }
}

extension FlicdControllerState {
    /// The controller state of `status` and MQTT.
    var word: String {
        switch self {
        case .detached: "powered_off"
        case .resetting: "resetting"
        case .attached: "powered_on"
        }
    }
}
