import ButtonModel

/// A scan wizard: its phase, which follows the pairing attempt, and its own time limit.
///
/// | phase       | on                        | becomes     | its client receives          | limit         |
/// |-------------|---------------------------|-------------|------------------------------|---------------|
/// | looking     | a private button          | privateSeen | FoundPrivateButton           | 20 s          |
/// | looking, privateSeen | a button is found | connecting | FoundPublicButton            | 20 s          |
/// | connecting  | the link is up            | verifying   | ButtonConnected              | 10 s          |
/// | verifying   | paired                    |             | Completed                    | 30 s          |
/// | any         | failed                    | failed      |                              |               |
/// | failed      | the minimum age           |             | Completed                    | 2 s to 20 s   |
/// | any         | its limit                 |             | Completed, timed out         |               |
/// | any         | cancelled                 |             | Completed, cancelled         |               |
///
/// A failure is held back until the wizard has a minimum age, because some clients create the next wizard as soon as
/// one completes.
///
/// - Source: flicd notes, 6.5.
struct FlicdWizard: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case looking
        case privateSeen
        case connecting(BluetoothAddress)
        case verifying(BluetoothAddress)
        case failed(FlicdScanWizardResult)

        var limit: Duration {
            switch self {
            case .looking, .privateSeen: .seconds(20)
            case .connecting: .seconds(10)
            case .verifying: .seconds(30)
            case .failed: .zero
            }
        }
    }

    /// The minimum age of a wizard when its failure is reported: it doubles with each failure in a row, within these
    /// bounds.
    static let minimumAge = Duration.seconds(2)...Duration.seconds(20)

    let createdAt: Instant
    var phase = Phase.looking

    var hasFailed: Bool { if case .failed = phase { true } else { false } }

    var isLooking: Bool {
        switch phase {
        case .looking, .privateSeen: true
        case .connecting, .verifying, .failed: false
        }
    }

    /// The button that is being connected or verified; else `nil`.
    var address: BluetoothAddress? {
        switch phase {
        case .connecting(let address), .verifying(let address): address
        case .looking, .privateSeen, .failed: nil
        }
    }

    static func minimumAge(afterFailures count: Int) -> Duration {
        var age = minimumAge.lowerBound
        for _ in 0..<min(count, 4) { age = age * 2 }
        return min(age, minimumAge.upperBound)
    }
}
