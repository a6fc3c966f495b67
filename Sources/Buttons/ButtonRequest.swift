package import ButtonModel
import Flic

/// What somebody wants of a known button. What the button cannot be told now it is told when it is ready.
package enum ButtonRequest: Hashable, Sendable {
    /// Cut to 23 octets; `at` decides between names given at different ends.
    case setNickname(String, at: UTCTime)
    case setLatencyMode(LatencyMode)
    /// Seconds without a press after which the button ends the link, 40…510; `nil`: never.
    case setAutoDisconnectTime(UInt16?)
    /// Look for the button, or let it be, until the opposite is asked for.
    case setConnectionWanted(Bool)
    /// Ask the adapter how strongly it hears the button. Without a link nobody knows.
    case measureSignal
    /// An image as its maker publishes it. Ends with `finished` or `failed`; until then the update survives lost
    /// links, and goes on where it was.
    case updateFirmware([UInt8])
    case cancelFirmwareUpdate
    /// The button forgets everybody. Only one that is ready can be asked; for others this does nothing.
    case factoryReset
    /// 0…`Dial.unitsPerTurn`.
    case setDial(Dial, units: Int)
    case setLEDMode(LEDMode)
}

/// How far a firmware update of a button is.
package enum FirmwareProgress: Hashable, Sendable {
    /// The button has to be ready first.
    case waiting
    /// 0…100.
    case transferring(percentage: Int)
    /// The button restarts with the new version, and connects again.
    case finished
    /// The failure's name, and a sentence that tells a person what to do.
    case failed(word: String, advice: String)
}
