/// A binary heap of timers, ordered by deadline and then by the order in which they were set.
///
/// Each timer stores its index in the heap, so that removing it takes O(log n) without a search.
@ReactorActor
struct TimerHeap {
    private var timers: [Timer] = []

    var earliest: Timer? { timers.first }

    mutating func insert(_ timer: Timer) {
        timer.heapIndex = timers.count
        timers.append(timer)
        siftUp(timer.heapIndex)
    }

    mutating func remove(_ timer: Timer) {
        let hole = timer.heapIndex
        guard hole >= 0 else { return }
        timer.heapIndex = -1
        let last = timers.removeLast()
        guard last !== timer else { return }
        timers[hole] = last
        last.heapIndex = hole
        siftUp(hole)
        siftDown(last.heapIndex)
    }

    mutating func removeAll() {
        for timer in timers { timer.heapIndex = -1 }
        timers = []
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard timers[index] < timers[parent] else { return }
            exchange(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            let left = 2 * index + 1, right = left + 1
            var least = index
            if left < timers.count, timers[left] < timers[least] { least = left }
            if right < timers.count, timers[right] < timers[least] { least = right }
            guard least != index else { return }
            exchange(index, least)
            index = least
        }
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        timers.swapAt(one, other)
        timers[one].heapIndex = one
        timers[other].heapIndex = other
    }
}

extension Timer {
    fileprivate static func < (left: Timer, right: Timer) -> Bool {
        (left.deadline, left.order) < (right.deadline, right.order)
    }
}
