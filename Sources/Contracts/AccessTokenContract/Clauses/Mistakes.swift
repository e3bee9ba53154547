import ContractHarness

extension ServiceContract {
    /// The mistakes that break several clauses each, the most general one first.
    static let mistakes: [Mistake] = [
        (
            "a load is not shared by all who wait", [.s1, .s2],
            [.s3, .s4, .s5, .s6, .s7, .c5, .d2, .f5, .i3, .i5, .i7, .i8, .x2, .x4]
        ),
        (
            "those who wait for a load are not told that it failed", [.f1],
            [.f2, .f3, .f4, .f5, .c8, .d1, .d4, .d7, .d10, .s3, .t1, .t2, .t3]
        ),
        ("a load that has ended is not forgotten", [.f2], [.d10, .f4, .f6, .i1, .i6, .s3, .t3]),
        (
            "a token that was brought is not cached", [.c1],
            [.c3, .c4, .c5, .c7, .c8, .c9, .c11, .d7, .f6, .i2, .i8, .o2, .o6, .t2, .x2]
        ),
        ("an expired token counts as valid", [.c6], [.c2, .c5, .c7, .c10, .c11]),
        ("a rejection is not taken in", [.i1], [.i2, .i3, .i4, .i5, .i8, .i9, .s4]),
        ("a load outlives its session", [.o1, .o2], [.o4, .o6, .o8, .o9, .s5, .t2]),
        ("a sign-out does not end the session", [.o3], [.o1, .o5, .o6, .o7]),
        ("handlers are called while a lock is held", [.d5, .d10], [.d4, .d8, .d9]),
        ("a caller cannot leave the load that it waits for", [.x1, .o4], [.o5, .x3, .x5]),
        ("a caller that leaves takes the load with it", [.x2, .x4], []),
        ("a load that is silent past its deadline is not given up", [.t1, .t3], [.c10, .i6, .s6, .t2, .t4]),
        ("a load counts as ended before its token is kept", [.s8], [.i8, .t2]),
        ("a load is heard again after its end", [.d7], [.o1, .o2, .t2]),
    ]
}
