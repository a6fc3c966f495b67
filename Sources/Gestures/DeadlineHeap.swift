import ButtonModel

/// A binary heap of deadlines, at most one for each button.
struct DeadlineHeap: Sendable {
    private struct Entry {
        var row: Int
        var instant: Instant
    }

    /// Heap order: no entry is earlier than its parent, the entry at (index − 1) / 2.
    private var entries: [Entry] = []
    /// The index in `entries` of each row's deadline; `nil` if it has none.
    private var entryIndices: [Int?] = []

    var earliest: (row: Int, instant: Instant)? { entries.first.map { ($0.row, $0.instant) } }

    mutating func set(_ row: Int, to instant: Instant?) {
        if row >= entryIndices.count { entryIndices += Array(repeating: nil, count: row + 1 - entryIndices.count) }
        switch (entryIndices[row], instant) {
        case (nil, nil):
            return
        case (nil, let instant?):
            entries.append(Entry(row: row, instant: instant))
            rise(from: entries.count - 1)
        case (let index?, nil):
            let last = entries.removeLast()
            entryIndices[row] = nil
            guard index < entries.count else { return }
            entries[index] = last
            sink(from: index)
            rise(from: entryIndices[last.row] ?? index)
        case (let index?, let instant?):
            let isEarlier = instant < entries[index].instant
            entries[index].instant = instant
            isEarlier ? rise(from: index) : sink(from: index)
        }
    }

    private mutating func rise(from start: Int) {
        var index = start
        let entry = entries[index]
        while index > 0, entry.instant < entries[(index - 1) / 2].instant {
            move((index - 1) / 2, to: index)
            index = (index - 1) / 2
        }
        put(entry, at: index)
    }

    private mutating func sink(from start: Int) {
        var index = start
        let entry = entries[index]
        while index * 2 + 1 < entries.count {
            var child = index * 2 + 1
            if child + 1 < entries.count, entries[child + 1].instant < entries[child].instant { child += 1 }
            guard entries[child].instant < entry.instant else { break }
            move(child, to: index)
            index = child
        }
        put(entry, at: index)
    }

    private mutating func move(_ from: Int, to index: Int) { put(entries[from], at: index) }

    private mutating func put(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entryIndices[entry.row] = index
    }
}

#if DEBUG
    extension DeadlineHeap {
        subscript(row: Int) -> Instant? {
            entryIndices.indices.contains(row) ? entryIndices[row].map { entries[$0].instant } : nil
        }

        func problems() -> [String] {
            var problems: [String] = []
            for index in entries.indices {
                if index > 0, entries[index].instant < entries[(index - 1) / 2].instant {
                    problems.append("deadline heap: entry \(index) is earlier than its parent")
                }
                if entryIndices[entries[index].row] != index {
                    problems.append("deadline heap: a row is not where it was put")
                }
            }
            if entryIndices.count(where: { $0 != nil }) != entries.count {
                problems.append("deadline heap: a row has two deadlines")
            }
            return problems
        }
    }
#endif
