/// The traces of runs that have ended: the last of each rule, and of all rules together no more than fit.
struct TraceArchive: Sendable {
    static let maximumPerRule = 20
    /// Of all traces together; a trace counts for one line more than it has.
    static let maximumLines = 20_000

    private struct Entry: Sendable {
        var rule: String
        var run: RunID
    }

    private var traces: [String: [RunTrace]] = [:]
    /// In the order in which the runs ended; some are gone from `traces`, being the twenty-first of their rules.
    private var order: [Entry] = []
    private var count = 0
    private var lines = 0

    func traces(of rule: String) -> [RunTrace] { traces[rule] ?? [] }

    mutating func add(_ trace: RunTrace) {
        traces[trace.rule, default: []].append(trace)
        order.append(Entry(rule: trace.rule, run: trace.run))
        count += 1
        lines += trace.cost
        if traces(of: trace.rule).count > TraceArchive.maximumPerRule { dropFirst(of: trace.rule) }
        if lines > TraceArchive.maximumLines { makeRoom() }
        if order.count > 2 * count + 1000 { order = order.filter(has) }
    }

    mutating func forget(_ rule: String) {
        while traces[rule] != nil { dropFirst(of: rule) }
    }

    /// Down to three quarters, so that it is not done for every run.
    private mutating func makeRoom() {
        var dropped = 0
        for entry in order {
            guard lines > TraceArchive.maximumLines / 4 * 3 else { break }
            dropped += 1
            if has(entry) { dropFirst(of: entry.rule) }
        }
        order.removeFirst(dropped)
    }

    /// The traces of one rule stand in the order of `order`.
    private func has(_ entry: Entry) -> Bool {
        traces[entry.rule]?.contains { $0.run == entry.run } ?? false
    }

    private mutating func dropFirst(of rule: String) {
        guard let first = traces[rule]?.first else { return traces[rule] = nil }
        lines -= first.cost
        count -= 1
        traces[rule]?.removeFirst()
        if traces[rule]?.isEmpty ?? true { traces[rule] = nil }
    }
}

extension RunTrace {
    fileprivate var cost: Int { lines.count + 1 }
}
