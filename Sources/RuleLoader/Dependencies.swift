/// Things that need one another, by number: an order in which each comes after what it needs.
struct Dependencies {
    /// Every one once. Where some need each other in a circle, one of them comes too early.
    private(set) var order: [Int] = []
    /// Each begins and ends with the same.
    private(set) var circles: [[Int]] = []

    /// - Parameter needs: for each, what it needs, in order. Numbers that are none of them are passed over.
    init(_ needs: [[Int]]) {
        enum Mark { case new, begun, done }
        var marks = [Mark](repeating: .new, count: needs.count)
        // Chains may be as long as a file allows, so they are not followed by recursion.
        var path: [(node: Int, next: Int)] = []
        order.reserveCapacity(needs.count)
        for first in needs.indices where marks[first] == .new {
            path.append((first, 0))
            marks[first] = .begun
            while let (node, next) = path.last {
                guard next < needs[node].count else {
                    marks[node] = .done
                    order.append(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let needed = needs[node][next]
                guard needs.indices.contains(needed) else { continue }
                switch marks[needed] {
                case .done: break
                case .new:
                    marks[needed] = .begun
                    path.append((needed, 0))
                case .begun:
                    let start = path.firstIndex { $0.node == needed } ?? path.startIndex
                    circles.append(path[start...].map(\.node) + [needed])
                }
            }
        }
    }
}
