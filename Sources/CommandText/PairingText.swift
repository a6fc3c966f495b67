package import CommandSupport
package import JSON

/// The steps of pairing in words: what happens, and what the user has to do with the button.
package enum PairingText {
    /// `nil` for the step `ended`, and for steps that this version does not know.
    package static func line(_ step: JSONValue, style: Style) -> Line? {
        let address = step["address"]?.stringValue ?? "the button"
        return switch step.text("step") {
        case "searching": "Looking for new buttons. Hold the button down for 7 seconds, until its light changes."
        case "found_private":
            Line("\(address) is in range, but not in pairing mode. Hold it down for 7 seconds.", .doubtful)
        case "found_public": Line("Found \(address).")
        case "already_paired": Line("\(address) is paired already. Still looking for others.", .faint)
        case "connecting": Line("Connecting to \(address).", .faint)
        case "connected": Line("Connected to \(address).", .faint)
        case "verifying": Line("Checking that \(address) is a genuine Flic.", .faint)
        case "paired": paired(step, style: style)
        case "failed":
            Line("\(style.cross) ", .bad) + (step.text("advice"), .bad) + (" (\(step.text("reason")))", .faint)
        default: nil
        }
    }

    private static func paired(_ step: JSONValue, style: Style) -> Line {
        var line = Line("\(style.checkMark) ", .good) + (step.text("button"), .strong) + (" is paired", .good)
        line.append(": \(step.text("serial"))")
        if let millivolts = step["battery_mv"]?.integerValue {
            line.append(", \(Quantity.volts(millivolts: millivolts))")
        }
        if let firmware = step["firmware"]?.integerValue { line.append(", firmware \(firmware)") }
        return line
    }
}
