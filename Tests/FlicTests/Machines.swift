public import ButtonModel
public import Flic
public import TestSupport

extension ButtonSession: StateMachine {
    /// An event that is previewed must be reported alone, with the same cursor.
    public mutating func expectation(of input: Input, at now: Instant) -> (([Effect]) -> Bool)? {
        guard case .received(let value) = input, let preview = preview(value[...], at: now) else { return nil }
        return { effects in
            let reports = effects.compactMap { effect -> ([ButtonEvent], EventCursor)? in
                if case .events(let events, let cursor, _) = effect { (events, cursor) } else { nil }
            }
            return reports.count == 1 && reports[0] == ([preview.event], preview.cursor)
        }
    }
}
extension FlicPeripheral: StateMachine {}
