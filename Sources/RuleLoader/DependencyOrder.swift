/// Sorts numbered items topologically, so that each comes after the items it needs, and finds dependency cycles.
struct DependencyOrder {
    /// Every item once, after the items it needs. In a cycle, one item comes before an item it needs.
    private(set) var order: [Int] = []
    /// The cycles. Each begins and ends with the same item.
    private(set) var cycles: [[Int]] = []

    /// - Parameter needs: for each item, the items it needs. Numbers out of range are ignored.
    init(_ needs: [[Int]]) {
        enum Mark { case new, begun, done }
        var marks = [Mark](repeating: .new, count: needs.count)
        // The depth-first search does not recurse, because chains may be as long as a file allows.
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
                    cycles.append(path[start...].map(\.node) + [needed])
                }
            }
        }
    }
}
