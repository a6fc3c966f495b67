/// The name of a request to the daemon, which its table of requests, the commands and MQTT discovery share.
///
/// On the control socket it is the member `request` of a line. Over MQTT it ends the topic `bridge/request/NAME`, if the hub
/// accepts the request there.
package protocol RequestName: RawRepresentable<String>, Sendable {}

/// Requests about the daemon itself.
package enum BridgeRequestName: String, RequestName, CaseIterable {
    case permitJoin = "permit_join"
    case healthCheck = "health_check"
    case options
    case restart
    case reloadRules = "rules/reload"
}

/// Requests that only the control socket knows.
package enum ControlRequestName: String, RequestName, CaseIterable {
    case watch
    case status
    case buttons
    case radios
    case pressSimulated = "simulator/press"
}

/// Requests about one button.
package enum ButtonRequestName: String, RequestName, CaseIterable {
    case describe = "button"
    case remove = "button/remove"
    case rename = "button/rename"
    case options = "button/options"
    case connect = "button/connect"
    case disconnect = "button/disconnect"
    /// Flashes the LED. No known model can do it, so the answer is an error that says so.
    case led = "button/led"
    case update = "button/update"
    case cancelUpdate = "button/update/cancel"
    case factoryReset = "button/factory_reset"
}

/// Requests about rules and variables. Over MQTT, these have topics of their own instead of the names.
package enum RuleRequestName: String, RequestName, CaseIterable {
    case rules
    case run = "rules/run"
    case enable = "rules/enable"
    case disable = "rules/disable"
    case trace = "rules/trace"
    case variables
    case setVariable = "variables/set"
    case states
}
