import CLinux
import Glibc

/// The reason why a name could not be resolved.
package struct Unresolved: Error, Hashable, Sendable {
    package var reason: String

    /// Says what to do about the name of a host that cannot be resolved, if only hosts on the local network have such names.
    ///
    /// With libnss-mdns, the name of such a host that is off cannot be resolved either.
    ///
    /// - Parameters:
    ///   - owner: what has the name, such as `the broker`.
    ///   - reason: why the name could not be resolved, if that is known.
    ///   - example: how its IP address is written in place of the name; `nil`: it needs no example.
    /// - Returns: `nil` for other names.
    package static func advice(
        on host: String, of owner: String, reason: String? = nil, example: String? = nil
    ) -> String? {
        guard host.hasSuffix(".local") else { return nil }
        return "the name \(host) cannot be resolved" + (reason.map { " (\($0))" } ?? "")
            + ": is \(owner) on? A name in .local needs libnss-mdns; or write its IP address"
            + (example.map { ", such as \($0)" } ?? "")
    }
}

/// Why a file may not be replaced by a socket file.
package enum SocketFileObstacle: Error, Hashable, Sendable {
    case notASocket
    /// A process listens on it.
    case inUse
    /// A system call failed.
    case system(operation: String, error: Int32)
}

/// A socket address of any family.
package struct SocketAddress: Hashable, Sendable {
    private var octets: [UInt8]
    package var family: Int32

    private init(_ info: addrinfo) {
        octets = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
        family = info.ai_family
    }

    private init(_ path: sockaddr_un, length: socklen_t) {
        octets = withUnsafeBytes(of: path) { Array($0.prefix(Int(length))) }
        family = AF_UNIX
    }

    /// The address of a Unix socket. A leading `@` means the abstract namespace.
    package static func resolve(unixPath: String) -> Result<[SocketAddress], Unresolved> {
        var address = sockaddr_un()
        let length = unixPath.utf8.contains(0) ? 0 : linux_unix_address(&address, unixPath)
        guard length > 0 else { return .failure(Unresolved(reason: "the path is empty or longer than 107 octets")) }
        return .success([SocketAddress(address, length: length)])
    }

    /// Resolves a host name. Blocks for as long as the resolver needs, so it must be called on a helper thread.
    package static func resolve(host: String, port: UInt16) -> Result<[SocketAddress], Unresolved> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, String(port), &hints, &list)
        guard failure == 0 else { return .failure(Unresolved(reason: String(cString: gai_strerror(failure)))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let info = next?.pointee {
            addresses.append(SocketAddress(info))
            next = info.ai_next
        }
        return .success(addresses)
    }

    /// The address of the peer in the usual notation: `127.0.0.1:41230`, `[::1]:41230`.
    package static func peer(of descriptor: Int32) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let failure = withUnsafeMutableBytes(of: &storage) { octets in
            guard let address = octets.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                getpeername(descriptor, address, &length) == 0
            else { return Int32(EAI_FAIL) }
            return getnameinfo(
                address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard failure == 0 else { return "an unknown address" }
        let (name, number) = (text(host), text(port))
        return name.contains(":") ? "[\(name)]:\(number)" : "\(name):\(number)"
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// True if only programs on this machine can reach the address.
    package var isLoopback: Bool {
        switch family {
        case AF_INET: octets.dropFirst(4).first == 127
        case AF_INET6: octets.dropFirst(8).prefix(16).elementsEqual([UInt8](repeating: 0, count: 15) + [1])
        default: true
        }
    }

    package func connect(_ descriptor: Int32) -> Int32 { call(Glibc.connect, descriptor) }
    package func bind(_ descriptor: Int32) -> Int32 { call(Glibc.bind, descriptor) }

    /// Removes the socket file with this address if no process listens on it: a program that was killed has left it there.
    package func removeAbandonedFile(at path: String) throws(SocketFileObstacle) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK { throw .notASocket }
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw .system(operation: "socket", error: errno) }
        defer { close(probe) }
        // EAGAIN means that the backlog of a listening process is full.
        guard connect(probe) != 0, errno == ECONNREFUSED else { throw .inUse }
        guard unlink(path) == 0 else { throw .system(operation: "removal", error: errno) }
    }

    private func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32
    ) -> Int32 {
        octets.withUnsafeBytes { octets in
            function(descriptor, octets.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(octets.count))
        }
    }
}
