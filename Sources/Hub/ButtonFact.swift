import ButtonModel
import Buttons

/// Why a button is not known any more. The raw value is its name in the live stream and in topics.
enum Departure: String, Hashable, Sendable {
    /// The button has proved that it does not know the bridge any more.
    case unpaired
    /// A user has asked for it.
    case removed
}

/// A fact about a button that has changed.
enum ButtonFact: Hashable, Sendable {
    /// The button is new, or was paired again.
    ///
    /// - Parameter isNew: true if no button with this id was known.
    case pairing(isNew: Bool)
    /// All that a new button has reported at first is known, so its own topics can be published.
    case introduction
    /// The button is not known any more. The label and the record are those before the removal.
    indirect case removal(Departure, label: String, ButtonRecord)
    /// The button's display name before the change.
    case name(before: String)
    /// The name of the button in the rules.
    case ruleName
    case nickname
    /// The button has taken the nickname that a user has chosen.
    case nicknameTaken
    case firmware
    case model
    case source
    case triggerMode
    /// The rules were replaced; they may give the button another name, or listen to other events of it.
    ///
    /// - Parameter isDifferent: true if what clients see of the button has changed.
    case rules(isDifferent: Bool)
    /// Settings that a user chose together.
    case options
    case isConnectionWanted
    case state(ButtonState, before: ButtonState?)
    /// The battery was measured.
    ///
    /// - Parameter isDifferent: true if the measurement differs from the last one, or is the first of its week.
    case battery(isDifferent: Bool)
    case signal
    /// The time of the last sighting, the number of presses, or the positions of the dials.
    case activity
    case updateProgress
    /// The radio that has the button or looks for it.
    case radio
    /// Whether the button has no link because its radio has no room for all buttons.
    case linkShortage
    /// The newest firmware file for the button's model.
    case firmwareFile
}

/// The audiences of changes of buttons, besides the store.
struct ButtonAudiences: OptionSet, Sendable {
    let rawValue: UInt16

    /// The button's retained status, at once.
    static let status = ButtonAudiences(rawValue: 1 << 0)
    /// The button's retained status, after a delay that joins several changes.
    static let statusSoon = ButtonAudiences(rawValue: 1 << 1)
    /// The button's retained availability, which differs if it has become ready or is not ready any more.
    static let availability = ButtonAudiences(rawValue: 1 << 2)
    /// The button's announcement to Home Assistant, whether or not it has changed.
    static let config = ButtonAudiences(rawValue: 1 << 3)
    /// The list of devices, and announcements to Home Assistant that have changed.
    static let deviceList = ButtonAudiences(rawValue: 1 << 4)
    /// The rule engine, which resolves declared buttons by their identities, and the counts of buttons in `bridge/info` and at
    /// the service manager.
    static let identities = ButtonAudiences(rawValue: 1 << 5)
    /// The rule engine, whose triggers and conditions ask for the fact.
    static let rules = ButtonAudiences(rawValue: 1 << 6)
    /// Clients of flicd.
    static let flicd = ButtonAudiences(rawValue: 1 << 7)
    /// The clients that watch get a `changed` line with all that is known of the button.
    static let watchers = ButtonAudiences(rawValue: 1 << 8)
    /// The status line of the service manager.
    static let serviceStatus = ButtonAudiences(rawValue: 1 << 9)
    /// The log, and the clients that watch, get a line of its own for the fact.
    static let narration = ButtonAudiences(rawValue: 1 << 10)
    /// Engines that carry out the rules of a site, if this machine is one.
    static let engines = ButtonAudiences(rawValue: 1 << 11)
    /// The list of radios, which names the buttons of this machine that each radio has or looks for.
    static let radios = ButtonAudiences(rawValue: 1 << 12)
}

extension ButtonFact {
    /// All audiences that show the fact or decide by it. An audience that is not listed is not informed of the fact.
    var audiences: ButtonAudiences {
        switch self {
        case .pairing: [.flicd, .identities, .deviceList, .engines, .radios]
        case .introduction: [.status, .availability, .config, .narration]
        case .removal:
            [.flicd, .config, .status, .availability, .narration, .identities, .deviceList, .engines, .radios]
        case .name: [.status, .narration, .deviceList, .engines, .radios, .watchers]
        case .triggerMode: [.status, .deviceList, .engines, .watchers]
        case .ruleName: [.status, .deviceList, .engines, .radios, .watchers]
        // `Hub.replaceRules` invalidates the list of devices once for all buttons.
        case .rules(let isDifferent):
            isDifferent ? [.status, .engines, .radios, .watchers] : [.status, .engines, .radios]
        case .nickname: [.status, .identities, .deviceList, .engines, .radios, .watchers]
        case .nicknameTaken: .watchers
        case .firmware: [.status, .deviceList, .flicd, .engines, .watchers]
        case .model: [.status, .config, .identities, .deviceList, .engines, .watchers]
        case .source: [.deviceList, .engines, .watchers]
        case .options: [.status, .identities, .deviceList, .engines, .radios, .watchers]
        case .isConnectionWanted: [.status, .watchers]
        case .state(let state, let before):
            (state == .ready) == (before == .ready)
                ? [.statusSoon, .flicd, .narration, .serviceStatus, .radios]
                : [.statusSoon, .availability, .flicd, .narration, .rules, .serviceStatus, .radios]
        case .battery(let isDifferent):
            isDifferent
                ? [.statusSoon, .flicd, .rules, .engines, .watchers] : [.statusSoon, .flicd, .rules, .engines]
        case .signal, .activity: .statusSoon
        case .updateProgress: .status
        case .radio: [.status, .radios, .watchers]
        case .linkShortage: [.radios, .watchers]
        case .firmwareFile: [.status, .config]
        }
    }
}
