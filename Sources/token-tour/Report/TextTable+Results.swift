extension TextTable {
    /// The tour's one table.
    init(_ results: [SetUpResult], on server: ServerNote = .builtIn) {
        self.init(
            header: ["set-up", "loads sent", server.reuseTitle, "sessions lost", "served", "wall time"],
            rows: results.map { result in
                [
                    result.name.rawValue,
                    "\(result.loads)",
                    "\(result.reuses)",
                    "\(result.sessionsLost) of \(result.signIns)",
                    "\(result.served) of \(result.callers)",
                    "\(result.wallTime.milliseconds) ms",
                ]
            }
        )
    }
}
