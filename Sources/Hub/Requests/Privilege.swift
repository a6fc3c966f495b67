/// The requests that a caller may make. Each privilege includes those before it.
enum Privilege: Int, CaseIterable, Comparable, Sendable {
    /// Requests that show something that is not secret.
    case read
    /// Pairing, names and options, as with `control.mqtt: settings`.
    case settings
    /// Rules, variables and a restart, as with `control.mqtt: all`.
    case all
    /// Everything: users of the control socket. The names of requests that need it are unknown over MQTT, where rules and
    /// the state of buttons have topics of their own (`ControlPlane.read`).
    case owner

    /// The privilege of clients that may publish to the broker; `nil` if they have none.
    init?(_ control: MQTTControl) {
        switch control {
        case .none: return nil
        case .settings: self = .settings
        case .all: self = .all
        }
    }

    static func < (left: Privilege, right: Privilege) -> Bool { left.rawValue < right.rawValue }
}
