import Glibc

/// The terminal's input, one key at a time: no line editing, no echo, no key that sends a signal. What is written
/// to it looks as always.
struct RawTerminal: ~Copyable {
    private let descriptor: Int32
    private var original: termios

    /// `nil` when the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        self.descriptor = descriptor
        original = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(descriptor, TCSADRAIN, &settings) == 0 else { return nil }
    }

    /// Puts everything back as it was; what was typed ahead is not left to the shell.
    deinit {
        var settings = original
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }
}
