import ButtonModel

/// A binary heap of deadlines, at most one for each button.
struct DeadlineHeap: Sendable {
    private struct Entry {
        var row: Int
        var instant: Instant
    }

    /// Heap order: no entry is earlier than its parent, the entry at (index − 1) / 2.
    private var entries: [Entry] = []
    /// The index in `entries` of each row; `nil` if it has no deadline.
    private var places: [Int?] = []

    var earliest: (row: Int, instant: Instant)? { entries.first.map { ($0.row, $0.instant) } }

    mutating func set(_ row: Int, to instant: Instant?) {
        if row >= places.count { places += Array(repeating: nil, count: row + 1 - places.count) }
        switch (places[row], instant) {
        case (nil, nil):
            return
        case (nil, let instant?):
            entries.append(Entry(row: row, instant: instant))
            rise(from: entries.count - 1)
        case (let place?, nil):
            let last = entries.removeLast()
            places[row] = nil
            guard place < entries.count else { return }
            entries[place] = last
            sink(from: place)
            rise(from: places[last.row] ?? place)
        case (let place?, let instant?):
            let isEarlier = instant < entries[place].instant
            entries[place].instant = instant
            isEarlier ? rise(from: place) : sink(from: place)
        }
    }

    private mutating func rise(from start: Int) {
        var place = start
        let entry = entries[place]
        while place > 0, entry.instant < entries[(place - 1) / 2].instant {
            move((place - 1) / 2, to: place)
            place = (place - 1) / 2
        }
        put(entry, at: place)
    }

    private mutating func sink(from start: Int) {
        var place = start
        let entry = entries[place]
        while place * 2 + 1 < entries.count {
            var child = place * 2 + 1
            if child + 1 < entries.count, entries[child + 1].instant < entries[child].instant { child += 1 }
            guard entries[child].instant < entry.instant else { break }
            move(child, to: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func move(_ from: Int, to place: Int) { put(entries[from], at: place) }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        places[entry.row] = place
    }
}

#if DEBUG
    extension DeadlineHeap {
        subscript(row: Int) -> Instant? { places.indices.contains(row) ? places[row].map { entries[$0].instant } : nil }

        func problems() -> [String] {
            var problems: [String] = []
            for index in entries.indices {
                if index > 0, entries[index].instant < entries[(index - 1) / 2].instant {
                    problems.append("deadline heap: entry \(index) is earlier than its parent")
                }
                if places[entries[index].row] != index {
                    problems.append("deadline heap: a row is not where it was put")
                }
            }
            if places.count(where: { $0 != nil }) != entries.count {
                problems.append("deadline heap: a row has two deadlines")
            }
            return problems
        }
    }
#endif
