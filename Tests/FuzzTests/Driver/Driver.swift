import Glibc

// The program for all targets: `TRYCK_FUZZ_TARGET` names the target. libFuzzer has the main loop and the options.

/// The name that SwiftPM gives to `main` of this program.
@_cdecl("fuzz_main")
func run(
    _ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    var count = count
    var arguments = arguments
    return driver(&count, &arguments, testOneInput)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func driver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private let target: FuzzTarget = {
    let name = getenv("TRYCK_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        preconditionFailure("TRYCK_FUZZ_TARGET has to be one of \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }
    return target
}()

private func testOneInput(_ octets: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do throws(BrokenPromise) {
        try target.run(Array(UnsafeBufferPointer(start: octets, count: count)))
    } catch {
        let message = "\(target.name): not so: \(error.promise)\n"
        write(STDERR_FILENO, message, message.utf8.count)
        abort()
    }
    return 0
}
