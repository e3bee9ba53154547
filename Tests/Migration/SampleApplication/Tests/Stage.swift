import SampleShared
import Testing

@testable import SampleCallbacks
@testable import SampleStage0
@testable import SampleStage1
@testable import SampleStage2
@testable import SampleStage3
@testable import SampleStage4

/// The app at one stage of its migration, and how the tests drive it.
///
/// The folder of a stage holds the whole app; a file that the stage takes over unchanged is a symbolic link.
struct Stage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the old session does wrong is wrong as long as it is behind the callers.
    let hasOldSession: Bool
    let start: @MainActor @Sendable (World) -> RunningApp

    static let all = [
        Stage(testDescription: "stage 0", hasOldSession: true) { world in
            let app = SampleStage0.App(authorization: world.authorization, api: world.api, keychain: world.keychain)
            let running = RunningApp(load: app.profile.load, signIn: app.signIn, signOutThen: app.signOut)
            app.profile.onChange = running.take
            return running
        },
        Stage(testDescription: "callbacks to the end", hasOldSession: false) { world in
            let app = SampleCallbacks.App(authorization: world.authorization, api: world.api, keychain: world.keychain)
            let running = RunningApp(load: app.profile.load, signIn: app.signIn, signOutThen: app.signOut)
            app.profile.onChange = running.take
            return running
        },
        Stage(testDescription: "stage 1", hasOldSession: true) { world in
            let app = SampleStage1.App(authorization: world.authorization, api: world.api, keychain: world.keychain)
            let running = RunningApp(load: app.profile.load, signIn: app.signIn, signOutThen: app.signOut)
            app.profile.onChange = running.take
            return running
        },
        stage2("stage 2", by: SampleStage2.Session.engine),
        stage2("stage 2, rolled back", hasOldSession: true, by: SampleStage2.Session.legacy),
        Stage(testDescription: "stage 3", hasOldSession: false) { world in
            let app = SampleStage3.App(authorization: world.authorization, api: world.api, keychain: world.keychain)
            let running = RunningApp(load: app.profile.load, signIn: app.signIn, signOutThen: app.signOut)
            app.profile.onChange = running.take
            return running
        },
        Stage(testDescription: "stage 4", hasOldSession: false) { world in
            let app = SampleStage4.App(authorization: world.authorization, api: world.api, keychain: world.keychain)
            var loading: Task<Void, Never>?
            let running = RunningApp(
                load: { loading = Task { await app.profile.load() } },
                leave: { loading?.cancel() },
                signIn: app.signIn,
                signOut: app.signOut
            )
            app.profile.onChange = running.take
            return running
        },
    ]

    private static func stage2(
        _ name: String,
        hasOldSession: Bool = false,
        by engine: @escaping @Sendable (@escaping Exchange, Keychain) -> SampleStage2.Session
    ) -> Stage {
        Stage(testDescription: name, hasOldSession: hasOldSession) { world in
            let app = SampleStage2.App(
                authorization: world.authorization,
                api: world.api,
                keychain: world.keychain,
                engine: engine
            )
            let running = RunningApp(load: app.profile.load, signIn: app.signIn, signOutThen: app.signOut)
            app.profile.onChange = running.take
            return running
        }
    }
}
