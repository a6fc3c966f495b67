import CLinux
import Glibc
import Reactor

/// One attempt to connect to a port of the loopback, given up when it is released.
@ReactorActor
final class LoopbackProbe {
    private let socket: OwnedDescriptor
    private var watch: Watch?

    init(loop: EventLoop, port: UInt16, _ answer: @escaping @ReactorActor (Bool) -> Void) {
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = OwnedDescriptor(Glibc.socket(AF_INET, flags, 0))
        let descriptor = socket
        guard descriptor.isOpen else {
            loop.timer { answer(false) }.set(at: 0)
            return
        }
        withLoopbackAddress(port: port) { address, length in _ = Glibc.connect(descriptor.rawValue, address, length) }
        watch = loop.watch(descriptor.rawValue, .write) { [weak self] interest in
            // The watch goes first: the descriptor is closed when nobody holds it any more.
            self?.watch?.cancel()
            answer(!interest.hasHangup)
        }
    }

    isolated deinit { watch?.cancel() }
}

/// A port nobody listens on: the preferred one if it can be had, else one the system chooses. Somebody else may take
/// it before it is used; then the program ends, and the next attempt asks again.
func freeLoopbackPort(preferring preferred: UInt16) -> UInt16? {
    for port in preferred == 0 ? [0] : [preferred, 0] {
        let socket = OwnedDescriptor(
            Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        guard socket.isOpen else { return nil }
        // As mosquitto does: connections of the one before may still be winding down.
        var yes: Int32 = 1
        setsockopt(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = withLoopbackAddress(port: port) { address, length in
            bind(socket.rawValue, address, length) == 0
        }
        guard isBound else { continue }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutableBytes(of: &address) { bytes in
            getsockname(socket.rawValue, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length) == 0
        }
        guard isNamed else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }
    return nil
}

@discardableResult
private func withLoopbackAddress<T>(port: UInt16, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> T) -> T {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafeBytes(of: &address) { bytes in
        body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
    }
}
