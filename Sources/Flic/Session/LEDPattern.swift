/// A blink pattern for the LED of a button. It is sent unchanged: which colour a number denotes and the unit of the
/// times are unknown.
///
/// - Source: protocol notes, 4.1 (opcode 32).
public struct LEDPattern: Hashable, Sendable {
    /// The colour's number, 0…3.
    public var colour: UInt8
    /// The brightness, 0…2047.
    public var brightness: UInt16
    public var pulseOn, pulseOff, periods: UInt32
    /// True if the pattern replaces what the LED shows on a press.
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
