package import ButtonModel
import Flic

/// A user's request for a known button. What cannot be sent to the button now is sent when its session is ready.
package enum ButtonRequest: Hashable, Sendable {
    /// Sets the name of the button, cut to 23 octets. If another program has set a name, too, the later one is kept.
    case setNickname(String, at: UTCTime)
    case setLatencyMode(LatencyMode)
    /// Seconds without a press after which the button ends the link, 40…510; `nil`: never.
    case setAutoDisconnectTime(UInt16?)
    /// Connects to the button whenever it advertises, or disconnects it and leaves it alone, until the opposite is
    /// requested.
    case setConnectionWanted(Bool)
    /// Reads the RSSI of the link. Without a link the request has no effect.
    case measureSignal
    /// Installs a firmware image as published by the manufacturer. Ends with `finished` or `failed`; until then the
    /// update is resumed after lost links.
    case updateFirmware([UInt8])
    case cancelFirmwareUpdate
    /// Makes the button delete all its pairings. Without a session the request has no effect.
    case factoryReset
    /// Sets the position of a dial, 0…`Dial.unitsPerTurn`.
    case setDial(Dial, units: Int)
    case setLEDMode(LEDMode)
}

/// The progress of a firmware update of a button.
package enum FirmwareProgress: Hashable, Sendable {
    /// The update starts when the session is ready.
    case waiting
    /// 0…100.
    case transferring(percentage: Int)
    /// The button restarts with the new version and connects again.
    case finished
    /// The update failed, with the failure's name and advice for the user.
    case failed(name: String, advice: String)
}
