import ContractHarness

extension ServiceContract {
    /// The mistakes that break several clauses each, the most general one first.
    static let mistakes: [Mistake] = [
        (
            "a load is not shared by all who wait", ["S1", "S2"],
            ["S3", "S4", "S5", "S6", "S7", "C5", "D2", "F5", "I3", "I5", "I7", "I8", "X2", "X4"]
        ),
        (
            "those who wait for a load are not told that it failed", ["F1"],
            ["F2", "F3", "F4", "F5", "C8", "D1", "D4", "D7", "D10", "S3", "T1", "T2", "T3"]
        ),
        ("a load that has ended is not forgotten", ["F2"], ["D10", "F4", "F6", "I1", "I6", "S3", "T3"]),
        (
            "a token that was brought is not cached", ["C1"],
            ["C3", "C4", "C5", "C7", "C8", "C9", "C11", "D7", "F6", "I2", "I8", "O2", "O6", "T2", "X2"]
        ),
        ("an expired token counts as valid", ["C6"], ["C2", "C5", "C7", "C10", "C11"]),
        ("a rejection is not taken in", ["I1"], ["I2", "I3", "I4", "I5", "I8", "I9", "S4"]),
        ("a load outlives its session", ["O1", "O2"], ["O4", "O6", "O8", "O9", "S5", "T2"]),
        ("a sign-out does not end the session", ["O3"], ["O1", "O5", "O6", "O7"]),
        ("handlers are called while a lock is held", ["D5", "D10"], ["D4", "D8", "D9"]),
        ("a caller cannot leave the load that it waits for", ["X1", "O4"], ["O5", "X5"]),
        ("a load that is silent past its deadline is not given up", ["T1", "T3"], ["S6", "T2", "T4"]),
    ]
}
