/// How the light of a button shall pulse. Colour numbers and the unit of the times are not known for Flic 2; what is
/// here is passed on as it is.
///
/// - Source: protocol notes, 4.1 (opcode 32).
public struct LEDPattern: Hashable, Sendable {
    /// 0…3.
    public var colour: UInt8
    /// 0…2047.
    public var brightness: UInt16
    public var pulseOn, pulseOff, periods: UInt32
    /// In place of what the light does on a press.
    public var overridesDefault: Bool
    public var continuesAfterDisconnect: Bool

    public init(
        colour: UInt8, brightness: UInt16, pulseOn: UInt32, pulseOff: UInt32, periods: UInt32,
        overridesDefault: Bool = false, continuesAfterDisconnect: Bool = false
    ) {
        self.colour = colour
        self.brightness = brightness
        self.pulseOn = pulseOn
        self.pulseOff = pulseOff
        self.periods = periods
        self.overridesDefault = overridesDefault
        self.continuesAfterDisconnect = continuesAfterDisconnect
    }
}
