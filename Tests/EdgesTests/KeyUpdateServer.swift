import DiskTestSupport
import Glibc

/// Accepts one client, waits for its first octets, and sends it some octets, many KeyUpdates (RFC 8446, 4.6.3) and more octets at
/// once.
final class KeyUpdateServer: Sendable {
    /// The length of a record with a KeyUpdate.
    static let octets = 27

    let port = freePort()
    private let process: pid_t
    private let log: Int32

    init(_ files: Certificates, keyUpdates: Int, first: [UInt8], last: [UInt8]) throws {
        func hex(_ octets: [UInt8]) -> String {
            octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        (process, log) = try startLogged([
            "/usr/bin/env", "python3", "-c", Self.script, files.directory.path, "\(port)", "\(keyUpdates)", hex(first),
            hex(last),
        ])
        var chunk = [UInt8](repeating: 0, count: 64)
        guard read(log, &chunk, chunk.count) > 0 else {
            stop()
            throw Unexpected()
        }
    }

    func stop() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        close(log)
    }

    /// Python's module for TLS cannot send a KeyUpdate, so OpenSSL's functions are called.
    private static let script = """
        import ctypes, os, socket, sys
        directory, port, count = sys.argv[1].encode(), int(sys.argv[2]), int(sys.argv[3])
        first, last = bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[5])
        ssl, crypto = ctypes.CDLL("libssl.so.3"), ctypes.CDLL("libcrypto.so.3")
        P, I, S = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
        for library, name, result, arguments in [
            (ssl, "TLS_server_method", P, []), (ssl, "SSL_CTX_new", P, [P]), (ssl, "SSL_new", P, [P]),
            (ssl, "SSL_CTX_use_certificate_file", I, [P, S, I]), (ssl, "SSL_CTX_use_PrivateKey_file", I, [P, S, I]),
            (ssl, "SSL_set_fd", I, [P, I]), (ssl, "SSL_accept", I, [P]), (ssl, "SSL_read", I, [P, S, I]),
            (ssl, "SSL_write", I, [P, S, I]), (ssl, "SSL_key_update", I, [P, I]), (ssl, "SSL_do_handshake", I, [P]),
            (ssl, "SSL_set0_wbio", None, [P, P]), (crypto, "BIO_s_mem", P, []), (crypto, "BIO_new", P, [P]),
            (crypto, "BIO_read", I, [P, S, I]),
        ]:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        context = ssl.SSL_CTX_new(ssl.TLS_server_method())
        assert ssl.SSL_CTX_use_certificate_file(context, directory + b"/broker.crt", 1) == 1
        assert ssl.SSL_CTX_use_PrivateKey_file(context, directory + b"/broker.key", 1) == 1
        listener = socket.create_server(("127.0.0.1", port))
        os.write(2, b"listening")
        client, _ = listener.accept()
        session = ssl.SSL_new(context)
        ssl.SSL_set_fd(session, client.fileno())
        assert ssl.SSL_accept(session) == 1
        buffer = ctypes.create_string_buffer(1 << 20)
        assert ssl.SSL_read(session, buffer, 65536) > 0
        memory = crypto.BIO_new(crypto.BIO_s_mem())
        ssl.SSL_set0_wbio(session, memory)
        def written():
            octets = b""
            while (n := crypto.BIO_read(memory, buffer, len(buffer))) > 0: octets += buffer.raw[:n]
            return octets
        def write(packet): assert ssl.SSL_write(session, packet, len(packet)) == len(packet)
        write(first)
        beginning = written()
        for _ in range(count):
            assert ssl.SSL_key_update(session, 0) == 1 and ssl.SSL_do_handshake(session) == 1
        write(last)
        flood = written()
        client.sendall(beginning + flood)
        client.recv(65536)
        client.recv(65536)
        """
}
