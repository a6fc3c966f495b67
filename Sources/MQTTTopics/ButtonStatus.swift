package import ButtonModel
package import JSON

/// The payload of the retained topic of a button.
package struct ButtonStatus: Hashable, Sendable {
    package var id: ButtonID
    package var name: String
    /// The state of the connection, such as `ready` or `disconnected`.
    package var state: String
    package var batteryMillivolts: Int?
    /// The battery level of a button whose voltage is not known.
    package var batteryPercentage: Int?
    package var isBatteryLow: Bool
    package var pressCount: Int64
    /// The presses since the start of the program that were made and never arrived.
    package var missedPresses: Int64
    package var lastSeen: UTCTime?
    /// The signal strength in dBm, as the adapter last measured it.
    package var rssi: Int?
    /// The name of the radio that has the button or looks for it; `nil` if none is ready, or the button comes from a flicd.
    package var radio: String?
    /// The configured trigger mode, or `auto`.
    package var triggerMode: String
    /// `nil` for a Twist, which has no latency mode.
    package var latencyMode: LatencyMode?
    package var nickname: String
    package var firmwareVersion: UInt32
    /// The version in the firmware file that `button/update` installs.
    package var offeredVersion: UInt32?
    /// The progress of a firmware update, 0…100; `nil` without an update.
    package var updatePercentage: Int?
    /// The positions of the button's dials, in the order of the dials; empty for a button without dials.
    package var positions: [DialPosition]
    /// `nil` for other models than a Twist.
    package var ledMode: LEDMode?

    package init(
        id: ButtonID, name: String, state: String, batteryMillivolts: Int? = nil, batteryPercentage: Int? = nil,
        isBatteryLow: Bool = false,
        pressCount: Int64 = 0, missedPresses: Int64 = 0, lastSeen: UTCTime? = nil, rssi: Int? = nil,
        radio: String? = nil,
        triggerMode: String = "auto",
        latencyMode: LatencyMode? = .normal, nickname: String = "", firmwareVersion: UInt32,
        offeredVersion: UInt32? = nil, updatePercentage: Int? = nil,
        positions: [DialPosition] = [], ledMode: LEDMode? = nil
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.batteryMillivolts = batteryMillivolts
        self.batteryPercentage = batteryPercentage
        self.isBatteryLow = isBatteryLow
        self.pressCount = pressCount
        self.missedPresses = missedPresses
        self.lastSeen = lastSeen
        self.rssi = rssi
        self.radio = radio
        self.triggerMode = triggerMode
        self.latencyMode = latencyMode
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.offeredVersion = offeredVersion
        self.updatePercentage = updatePercentage
        self.positions = positions
        self.ledMode = ledMode
    }

    /// The payload. Unknown values are `null`, which Home Assistant shows as unknown. No key may be the name of a
    /// method of Python's dictionaries (`items`, `update`, …), because templates would find the method.
    package var json: JSONValue {
        var members = common
        if !positions.isEmpty { members.append(.init("positions", positions.json)) }
        if missedPresses > 0 { members.append(.init("missed_presses", .integer(missedPresses))) }
        if let ledMode { members.append(.init("led_mode", .string(ledMode.rawValue))) }
        return .object(members)
    }

    private var common: [JSONValue.Member] {
        let members: KeyValuePairs<String, JSONValue> = [
            "id": .string(id.description), "name": .string(name), "state": .string(state),
            "battery": (batteryMillivolts.map(Battery.percentage) ?? batteryPercentage).map { .integer(Int64($0)) }
                ?? .null,
            "battery_voltage": batteryMillivolts.map(ButtonStatus.volts) ?? .null,
            "battery_low": .bool(isBatteryLow), "press_count": .integer(pressCount),
            "last_seen": lastSeen.map { .string($0.description) } ?? .null,
            "rssi": rssi.map { .integer(Int64($0)) } ?? .null, "radio": radio.map { .string($0) } ?? .null,
            "trigger_mode": .string(triggerMode),
            "latency_mode": latencyMode.map { .string($0.rawValue) } ?? .null, "nickname": .string(nickname),
            "firmware": firmware,
        ]
        return members.map { .init($0, $1) }
    }

    /// The state of the update entity. Home Assistant offers an update whenever the two versions differ, so
    /// `latest_version` is never below the installed version.
    private var firmware: JSONValue {
        [
            "installed_version": .string(String(firmwareVersion)),
            "latest_version": .string(String(max(firmwareVersion, offeredVersion ?? firmwareVersion))),
            "in_progress": .bool(updatePercentage != nil),
            "update_percentage": updatePercentage.map { .integer(Int64(min(max($0, 0), 100))) } ?? .null,
        ]
    }

    /// Volts with two decimals. Dividing hundredths by 100 gives the number that is printed as `2.94`.
    private static func volts(millivolts: Int) -> JSONValue {
        let (hundredths, rest) = millivolts.quotientAndRemainder(dividingBy: 10)
        return .number(Double(rest < 5 ? hundredths : hundredths + 1) / 100)
    }
}

package struct DialPosition: Hashable, Sendable {
    package var dial: Dial
    /// The position in percent, 0…100.
    package var percentage: Int

    package init(_ dial: Dial, percentage: Int) {
        self.dial = dial
        self.percentage = percentage
    }
}

extension [DialPosition] {
    /// The positions by dial: `{"slot_1":40,…}`.
    package var json: JSONValue { .object(map { .init($0.dial.name, .integer(Int64($0.percentage))) }) }
}
