import AccessTokenContract
import InterleavingExplorer

@testable import RaceGallery

/// The diagrams of the guide, drawn anew from what really happens.
enum Recording {
    /// Two callers of both worlds on one service: what they do is played, what the service does is its own events.
    static func ofBothWorlds() async throws -> [String] {
        let (events, tell) = AsyncStream.makeStream(of: AccessTokenEvent.self)
        let loader = ControlledLoader()
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderAdapter(of: loader),
            clock: ManualClock(),
            onEvent: { tell.yield($0) }
        )
        let view = CallbackServiceAdapter(of: service)
        var lines = [
            "participant old as a callback caller",
            "participant new as an async caller",
            "participant view as CallbackServiceAdapter",
            "participant actor as AsyncAccessTokenService",
            "participant loader as a callback loader",
        ]
        func note() async {
            guard let event = await events.first(where: { _ in true }) else { return }
            // How long a load took is the only thing that differs from run to run.
            let text = "\(event)".replacing(#/ after [\d.]+ s/#, with: "")
            lines.append("Note over actor: \(text)")
        }

        let (answers, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        lines.append("old->>view: retrieveToken(then:)")
        callFromLegacyCode(view) { answer.yield($0) }
        await note()
        let load = await loader.started(1)
        lines.append("actor->>loader: load(replacing: \(load?.replacing == nil ? "nil" : "…"), then:)")
        lines.append("new->>actor: token()")
        let caller = Task { try await service.token() }
        await note()
        lines.append("loader-->>actor: a token")
        load?.answer(.success(AccessToken(value: "T1")))
        await note()
        if let result = await answers.first(where: { _ in true }), (try? result.get()) != nil {
            lines.append("view-->>old: the token")
        }
        if try await caller.value.value == "T1" { lines.append("actor-->>new: the token") }
        return drawn(lines)
    }

    /// A load that outlives its session, from the gallery.
    static func ofSignOut() async -> [String] {
        guard let version = SignOut.exhibit.versions.first(where: { $0.name == "late-result-wins" }),
            let failure = await version.explore().report.failure
        else { return [] }
        return ExhibitReport.mermaid(failure.trace).lines
    }

    private static func drawn(_ lines: [String]) -> [String] {
        ["sequenceDiagram"] + lines.map { "    \($0)" }
    }

    /// Outside of async code, where the compiler would advise to use `token()`.
    private static func callFromLegacyCode(
        _ provider: any AccessTokenProviding,
        then handler: @escaping AccessTokenHandler
    ) {
        provider.retrieveToken(then: handler)
    }
}
