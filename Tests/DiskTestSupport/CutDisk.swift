public import TestSupport

/// Computes possible contents of a disk after a power cut, from the calls that changed files.
///
/// The guarantees are as weak as those of POSIX. A write to a file is durable when a sync of that file began after the
/// write and has ended. Of later writes, each may have arrived or not, in any order, and the last one in part. The
/// creation, removal or renaming of a file is durable after a sync of the directory; before that, such changes arrive
/// in order. When a sync fails, the kernel considers the data as written, and it never arrives.
public struct CutDisk: Sendable {
    public typealias Contents = [String: [UInt8]]

    private enum Change {
        case write(offset: Int, [UInt8])
        case truncate(Int)

        func apply(to octets: inout [UInt8]) {
            switch self {
            case .write(let offset, let written):
                if octets.count < offset + written.count {
                    octets += [UInt8](repeating: 0, count: offset + written.count - octets.count)
                }
                octets.withUnsafeMutableBytes { $0[offset..<offset + written.count].copyBytes(from: written) }
            case .truncate(let length):
                if length < octets.count {
                    octets.removeLast(octets.count - length)
                } else {
                    octets += [UInt8](repeating: 0, count: length - octets.count)
                }
            }
        }
    }

    private struct File {
        var applied: [UInt8] = []
        var durable: [UInt8] = []
        /// Changes that are not in `durable`.
        var pending: [Change] = []
        /// How many of the pending changes an unfinished sync covers.
        var covered: Int?
    }

    private enum NameChange {
        case link(String, Int)
        case unlink(String)
    }

    private var files: [File] = []
    private var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var pendingNames: [NameChange] = []
    private var coveredNames: Int?
    /// The file of the last event, if that event was a write.
    private var lastWritten: Int?

    /// - Parameter contents: what is there for certain.
    public init(_ contents: Contents = [:]) {
        for (name, octets) in contents {
            names[name] = files.count
            files.append(File(applied: octets, durable: octets))
        }
        durableNames = names
    }

    /// - Parameter events: the calls, from a directory that was empty.
    public init(_ events: [DiskEvent]) {
        self.init()
        for event in events { take(event) }
    }

    public mutating func take(_ event: DiskEvent) {
        lastWritten = nil
        switch event {
        case .created(let name):
            guard names[name] == nil else { return }
            names[name] = files.count
            pendingNames.append(.link(name, files.count))
            files.append(File())
        case .wrote(let name, let offset, let octets):
            change(name, .write(offset: offset, octets))
            lastWritten = names[name]
        case .truncated(let name, let length): change(name, .truncate(length))
        case .syncBegan(""): coveredNames = coveredNames ?? pendingNames.count
        case .synced(""):
            for change in pendingNames.prefix(coveredNames ?? 0) { Self.apply(change, to: &durableNames) }
            pendingNames.removeFirst(coveredNames ?? 0)
            coveredNames = nil
        case .syncFailed(""): coveredNames = nil
        case .syncBegan(let name): edit(name) { $0.covered = $0.covered ?? $0.pending.count }
        case .synced(let name):
            edit(name) {
                for change in $0.pending.prefix($0.covered ?? 0) { change.apply(to: &$0.durable) }
                $0.pending.removeFirst($0.covered ?? 0)
                $0.covered = nil
            }
        case .syncFailed(let name):
            edit(name) {
                $0.pending = []
                $0.covered = nil
            }
        case .unlinked(let name):
            guard names.removeValue(forKey: name) != nil else { return }
            pendingNames.append(.unlink(name))
        case .renamed(let name, let target):
            guard let file = names.removeValue(forKey: name) else { return }
            names[target] = file
            pendingNames += [.link(target, file), .unlink(name)]
        case .recorded, .promised: break
        }
    }

    private mutating func edit(_ name: String, _ body: (inout File) -> Void) {
        if let index = names[name] { body(&files[index]) }
    }

    private mutating func change(_ name: String, _ change: Change) {
        edit(name) {
            change.apply(to: &$0.applied)
            $0.pending.append(change)
        }
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .link(let name, let file): names[name] = file
        case .unlink(let name): names[name] = nil
        }
    }

    // MARK: What is left

    /// The process was killed; the kernel goes on.
    public var afterKill: Contents { names.mapValues { files[$0].applied } }

    /// The smallest possible contents after a power cut.
    public var afterCut: Contents { durableNames.mapValues { files[$0].durable } }

    /// Contents with the first few unsynced writes of each file; the last of them may have only some sectors.
    public func prefix(_ random: inout SeededGenerator) -> Contents {
        let names = namesAfter(Int.random(in: 0...pendingNames.count, using: &random))
        return names.mapValues { index in
            let file = files[index]
            var octets = file.durable
            for change in file.pending.prefix(Int.random(in: 0...file.pending.count, using: &random)) {
                change.apply(to: &octets)
            }
            return octets
        }
    }

    /// Any of the unsynced writes.
    public func subset(_ random: inout SeededGenerator) -> Contents {
        let names = namesAfter(Int.random(in: 0...pendingNames.count, using: &random))
        let odds = Int.random(in: 1...9, using: &random)
        return names.mapValues { index in
            var octets = files[index].durable
            for change in files[index].pending where Int.random(in: 0..<10, using: &random) < odds {
                change.apply(to: &octets)
            }
            return octets
        }
    }

    /// Everything, but only some sectors of what was written last; `nil` where that was no more than one.
    public func torn(_ random: inout SeededGenerator) -> Contents? {
        guard let lastWritten, case .write(let offset, let octets)? = files[lastWritten].pending.last,
            octets.count > 512
        else { return nil }
        var contents = afterKill
        var torn = files[lastWritten].durable
        for change in files[lastWritten].pending.dropLast() { change.apply(to: &torn) }
        let sectors = offset / 512...(offset + octets.count - 1) / 512
        for sector in sectors where Bool.random(using: &random) {
            let range = max(sector * 512, offset)..<min((sector + 1) * 512, offset + octets.count)
            let part = octets[range.lowerBound - offset..<range.upperBound - offset]
            Change.write(offset: range.lowerBound, Array(part)).apply(to: &torn)
        }
        for (name, file) in names where file == lastWritten { contents[name] = torn }
        return contents
    }

    private func namesAfter(_ count: Int) -> [String: Int] {
        var names = durableNames
        for change in pendingNames.prefix(count) { Self.apply(change, to: &names) }
        return names
    }
}
