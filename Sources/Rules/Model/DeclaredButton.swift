package import ButtonModel

/// A button declared in the rules, and how its hardware is identified.
package struct DeclaredButton: Hashable, Sendable {
    package enum Hardware: Hashable, Sendable {
        case uuid(String)
        case serial(String)
        case address(ButtonID)
        case nickname(String)

        /// The identification as in the rules: `BA00-A00001`.
        package var text: String {
            switch self {
            case .uuid(let text), .serial(let text), .nickname(let text): text
            case .address(let id): BluetoothAddress(rawValue: id.rawValue).description
            }
        }

        package func matches(_ identity: ButtonIdentity) -> Bool {
            switch self {
            case .uuid(let uuid): uuid == identity.uuid
            case .serial(let serial): serial == identity.serial
            case .address(let id): id == identity.id
            case .nickname(let nickname): nickname == identity.nickname
            }
        }
    }

    package static let standardHoldAfter = Duration.seconds(1)
    package static let standardClickGap = Duration.milliseconds(500)

    package var name: String
    package var hardware: Hardware
    /// A model in `FlicModel.pairable`. A button of another model may be declared as any of these.
    package var model: FlicModel
    /// The fixed trigger mode; if `nil`, it is derived from the rules (`auto`).
    package var triggerMode: TriggerMode?
    /// The minimum duration of a long press, 200 ms … 10 s.
    package var holdAfter: Duration
    /// The maximum time from the `down` of a short press, or the `up` of a long press, to the next `down` of a pattern,
    /// 100 ms … 2 s.
    package var clickGap: Duration
    /// If `nil`, the policy of the set.
    package var queued: QueuedPolicy?
    package var location: SourceLocation

    package init(
        name: String, hardware: Hardware, model: FlicModel = .flic2, triggerMode: TriggerMode? = nil,
        holdAfter: Duration = standardHoldAfter, clickGap: Duration = standardClickGap, queued: QueuedPolicy? = nil,
        location: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.hardware = hardware
        self.model = model
        self.triggerMode = triggerMode
        self.holdAfter = holdAfter
        self.clickGap = clickGap
        self.queued = queued
        self.location = location
    }
}

/// The policy for queued events, which a button stored while it was out of reach.
package enum QueuedPolicy: Hashable, Sendable {
    case drop
    case accept
    /// Accepts events up to `maximumAge`, inclusive. With `keepLast`, only the last matching event of a reconnection is
    /// accepted.
    case limited(maximumAge: Duration, keepLast: Bool)

    package static let standard = QueuedPolicy.limited(maximumAge: .seconds(3), keepLast: false)

    /// True if a gesture of this age is accepted. Live gestures always are.
    package func admits(queued: Bool, age: Duration) -> Bool {
        guard queued else { return true }
        switch self {
        case .drop: return false
        case .accept: return true
        case .limited(let maximumAge, _): return age <= maximumAge
        }
    }
}
