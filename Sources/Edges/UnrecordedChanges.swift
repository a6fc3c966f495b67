import ButtonModel
import Hub
import Rules

/// Changes that could not be written to the database yet, in their order.
///
/// A change replaces the earlier changes that it supersedes. Runs that began and ended since are left out, except the one with the
/// highest number, so that no run number is used twice. Therefore the changes never become larger than the complete state.
struct UnrecordedChanges: Hashable, Sendable {
    /// The changes that no later change supersedes.
    private var latest: [StoreChange] = []
    /// The run with the highest number among those that began and ended without being recorded.
    private var lastEndedRun: StoredRun?

    var isEmpty: Bool { latest.isEmpty && lastEndedRun == nil }

    var changes: [StoreChange] {
        guard let lastEndedRun else { return latest }
        return [.runStarted(lastEndedRun), .runEnded(lastEndedRun.id)] + latest
    }

    mutating func add(_ change: StoreChange) {
        if case .runEnded(let id) = change, let run = takeRun(id) {
            if run.id > lastEndedRun?.id ?? 0 { lastEndedRun = run }
            return
        }
        let subject = change.subject
        latest.removeAll { subject.supersedes($0.subject) }
        if case .feed(.uplink(.position(let button, let position))) = change {
            latest.removeAll { $0.isEntry(of: button, upTo: position.gone) }
        }
        latest.append(change)
    }

    /// Removes and returns the run with this id if it began in these changes.
    private mutating func takeRun(_ id: UInt64) -> StoredRun? {
        for (index, change) in latest.enumerated() {
            guard case .runStarted(let run) = change, run.id == id else { continue }
            latest.remove(at: index)
            latest.removeAll { $0.subject == .waiting(RunID(rawValue: id)) }
            return run
        }
        return nil
    }
}

extension StoreChange {
    /// True for an entry of the button's journal in a site, up to this number.
    fileprivate func isEntry(of button: ButtonID, upTo number: Int) -> Bool {
        if case .feed(.uplink(.entry(button, let entry, _))) = self { entry <= number } else { false }
    }

    /// The part of the store that a change affects. A later change with the same subject replaces an earlier one.
    fileprivate enum Subject: Hashable {
        /// The complete record of the button.
        case button(ButtonID)
        case aspect(ButtonID, Aspect)
        case run(UInt64)
        case variable(String)
        case cycle(String)
        case enabled(String)
        case cooldown(String, ButtonID?)
        case waiting(RunID)
        case kept(String, ButtonID)
        case reset(String)
        case feed(String)

        enum Aspect: Hashable {
            case progress, publishWatermark, battery, settings
            case column(String)
        }

        func supersedes(_ earlier: Subject) -> Bool {
            if case .button(let id) = self, case .aspect(id, _) = earlier { return true }
            return self == earlier
        }
    }

    fileprivate var subject: Subject {
        switch self {
        case .putButton(let button): .button(button.id)
        case .removeButton(let id): .button(id)
        case .progress(let id, _, _, _, _, _, _): .aspect(id, .progress)
        case .publishWatermark(let id, _): .aspect(id, .publishWatermark)
        case .runStarted(let run): .run(run.id)
        case .runEnded(let id): .run(id)
        case .rules(.variable(let name, _)): .variable(name)
        case .rules(.cycle(let key, _)): .cycle(key)
        case .rules(.enabled(let rule, _)): .enabled(rule)
        case .rules(.cooldown(let cooldown)): .cooldown(cooldown.rule, cooldown.button)
        case .rules(.waiting(let run, _)): .waiting(run)
        case .rules(.kept(let rule, let button, _)): .kept(rule, button)
        case .rules(.daily(let key, _)): .reset(key)
        case .battery(let id, _, _, _), .batteryPercentage(let id, _, _, _): .aspect(id, .battery)
        case .settings(let id, _): .aspect(id, .settings)
        case .fact(let id, let fact): .aspect(id, .column(fact.column.name))
        case .feed(let change): .feed(change.key)
        }
    }
}
