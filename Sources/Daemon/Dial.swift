import CLinux
import Glibc
import Reactor

/// Connects a stream socket to the first of several addresses that accepts, without blocking.
@ReactorActor
final class Dial {
    struct Failure: Error, Hashable, Sendable {
        /// The error of the last address.
        var errno: Int32
    }

    private let loop: EventLoop
    private var rest: ArraySlice<SocketAddress>
    private let timeout: Int64
    private let done: @ReactorActor (Result<Int32, Failure>) -> Void
    private var descriptor: Int32 = -1
    private var watch: Watch?
    private var timer: Timer?

    /// - Parameters:
    ///   - timeout: nanoseconds for each address.
    ///   - done: receives the connected descriptor, which then belongs to it. It is called once, never from inside
    ///     `init`, and not after `cancel`.
    init(
        _ loop: EventLoop, _ addresses: [SocketAddress], timeout: Int64,
        _ done: @escaping @ReactorActor (Result<Int32, Failure>) -> Void
    ) {
        self.loop = loop
        rest = addresses[...]
        self.timeout = timeout
        self.done = done
        timer = loop.timer { [unowned self] in tryNext(after: ETIMEDOUT) }
        tryNext(after: EADDRNOTAVAIL)
    }

    func cancel() {
        timer?.cancel()
        watch?.cancel()
        watch = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func tryNext(after failure: Int32) {
        cancel()
        guard let address = rest.popFirst() else {
            // A timer reports the failure, so that `done` is not called from inside `init`, and `cancel` prevents it.
            timer = loop.timer { [unowned self] in done(.failure(Failure(errno: failure))) }
            timer?.set(at: 0)
            return
        }
        descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return tryNext(after: errno) }
        guard address.connect(descriptor) == 0 || errno == EINPROGRESS else { return tryNext(after: errno) }
        watch = loop.watch(descriptor, .write) { [unowned self] _ in finish() }
        timer?.set(at: loop.nanosecondsSinceBoot + timeout)
    }

    private func finish() {
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
        guard failure == 0 else { return tryNext(after: failure) }
        let connected = descriptor
        descriptor = -1
        cancel()
        done(.success(connected))
    }
}

/// The reason why a name could not be resolved.
struct Unresolved: Error, Hashable, Sendable {
    var reason: String
}

/// A socket address of any family.
struct SocketAddress: Hashable, Sendable {
    private var octets: [UInt8]
    var family: Int32

    private init(_ info: addrinfo) {
        octets = Array(UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen)))
        family = info.ai_family
    }

    private init(_ path: sockaddr_un, length: socklen_t) {
        octets = withUnsafeBytes(of: path) { Array($0.prefix(Int(length))) }
        family = AF_UNIX
    }

    /// The address of a Unix socket. A leading `@` means the abstract namespace.
    static func resolve(unixPath: String) -> Result<[SocketAddress], Unresolved> {
        var address = sockaddr_un()
        let length = unixPath.utf8.contains(0) ? 0 : linux_unix_address(&address, unixPath)
        guard length > 0 else { return .failure(Unresolved(reason: "the path is empty or longer than 107 octets")) }
        return .success([SocketAddress(address, length: length)])
    }

    /// Resolves a host name. Blocks for as long as the resolver needs, so it must be called on a helper thread.
    static func resolve(host: String, port: UInt16) -> Result<[SocketAddress], Unresolved> {
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
    static func peer(of descriptor: Int32) -> String {
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

    /// Whether only programs on this machine can reach the address.
    var isLoopback: Bool {
        switch family {
        case AF_INET: octets.dropFirst(4).first == 127
        case AF_INET6: octets.dropFirst(8).prefix(16).elementsEqual([UInt8](repeating: 0, count: 15) + [1])
        default: true
        }
    }

    func connect(_ descriptor: Int32) -> Int32 { call(Glibc.connect, descriptor) }
    func bind(_ descriptor: Int32) -> Int32 { call(Glibc.bind, descriptor) }

    private func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32
    ) -> Int32 {
        octets.withUnsafeBytes { octets in
            function(descriptor, octets.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(octets.count))
        }
    }
}
