/// Checks the numbered messages about gestures and steps: each number of a button must be seen once, or reported as
/// interrupted. A reported number may have been seen, because the process may have died before it recorded the
/// acknowledgement.
struct Numbering {
    private var seen: [String: [Int64: Int]] = [:]
    private var toldOf: [String: [ClosedRange<Int64>]] = [:]

    mutating func saw(_ number: Int64, of button: String) {
        seen[button, default: [:]][number, default: 0] += 1
    }

    mutating func told(_ numbers: ClosedRange<Int64>, of button: String) {
        toldOf[button, default: []].append(numbers)
    }

    /// The number of messages of all buttons, up to the highest number of each.
    var total: Int { buttons.reduce(0) { $0 + Int(highest(of: $1)) } }

    var seenTwice: [String] {
        buttons.flatMap { button in
            (seen[button] ?? [:]).filter { $0.value > 1 }.keys.sorted().map { "\(button) seq \($0)" }
        }
    }

    /// Not seen, but reported.
    var interruptedCount: Int { buttons.reduce(0) { $0 + unseen(of: $1).count { $0.isTold } } }

    /// Neither seen nor reported.
    var lost: [String] {
        buttons.flatMap { button in unseen(of: button).filter { !$0.isTold }.map { "\(button) seq \($0.number)" } }
    }

    private var buttons: [String] { Set(seen.keys).union(toldOf.keys).sorted() }

    private func highest(of button: String) -> Int64 {
        max(seen[button]?.keys.max() ?? 0, toldOf[button]?.map(\.upperBound).max() ?? 0)
    }

    private func unseen(of button: String) -> [(number: Int64, isTold: Bool)] {
        (0..<highest(of: button)).map { $0 + 1 }.filter { seen[button]?[$0] == nil }.map { number in
            (number, toldOf[button]?.contains { $0.contains(number) } ?? false)
        }
    }
}
