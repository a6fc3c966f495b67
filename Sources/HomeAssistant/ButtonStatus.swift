package import ButtonModel
package import JSON

/// What is retained about one button on its own topic.
package struct ButtonStatus: Hashable, Sendable {
    package var id: ButtonID
    package var name: String
    /// `ready`, `disconnected`, …
    package var state: String
    package var batteryMillivolts: Int?
    package var isBatteryLow: Bool
    package var pressCount: Int64
    package var lastSeen: UTCTime?
    /// In dBm, as the adapter last measured it.
    package var rssi: Int?
    /// What was chosen: a trigger mode, or `auto`.
    package var triggerMode: String
    package var latencyMode: LatencyMode
    package var nickname: String
    package var firmwareVersion: UInt32
    /// Of the file that `button/update` installs.
    package var offeredVersion: UInt32?
    /// 0…100 while firmware is on its way.
    package var updatePercentage: Int?

    package init(
        id: ButtonID, name: String, state: String, batteryMillivolts: Int? = nil, isBatteryLow: Bool = false,
        pressCount: Int64 = 0, lastSeen: UTCTime? = nil, rssi: Int? = nil, triggerMode: String = "auto",
        latencyMode: LatencyMode = .normal, nickname: String = "", firmwareVersion: UInt32,
        offeredVersion: UInt32? = nil, updatePercentage: Int? = nil
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.batteryMillivolts = batteryMillivolts
        self.isBatteryLow = isBatteryLow
        self.pressCount = pressCount
        self.lastSeen = lastSeen
        self.rssi = rssi
        self.triggerMode = triggerMode
        self.latencyMode = latencyMode
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.offeredVersion = offeredVersion
        self.updatePercentage = updatePercentage
    }

    package var json: JSONValue { .object([]) }
}
