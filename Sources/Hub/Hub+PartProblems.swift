#if DEBUG
    import Rules

    extension Hub {
        /// What the rule engine and the button manager find wrong with themselves between two inputs; empty unless one of
        /// them has a fault.
        package func partProblems() -> [String] { engine.problems() + buttonSource.problems() }
    }
#endif
