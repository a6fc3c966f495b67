/// The traces of completed runs, limited for each rule and in total.
struct TraceArchive: Sendable {
    static let maximumPerRule = 20
    /// The maximum number of lines in all traces; a trace counts as one more line than it has.
    static let maximumLines = 20_000

    private struct Entry: Sendable {
        var rule: String
        var run: RunID
    }

    private var traces: [String: [RunTrace]] = [:]
    /// In the order in which the runs ended. It may contain entries whose traces have already been removed because of
    /// `maximumPerRule`.
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

    /// Removes the oldest traces until three quarters of the limit are left, so that not every run removes traces.
    private mutating func makeRoom() {
        var dropped = 0
        for entry in order {
            guard lines > TraceArchive.maximumLines / 4 * 3 else { break }
            dropped += 1
            if has(entry) { dropFirst(of: entry.rule) }
        }
        order.removeFirst(dropped)
    }

    /// True if the trace still exists. A rule's traces are in the same order as its entries in `order`.
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
