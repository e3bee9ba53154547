// swift-tools-version: 6.2

import PackageDescription

let features: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]

// `.ci/run` and `.ci/deep` set it: a newer compiler's warning fails our checks, and no consumer's build.
let isChecked = Context.environment["ACCESS_TOKEN_SERVICE_CHECKS"] != nil
let settings = features + (isChecked ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "access-token-service",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "AccessTokenGCD", targets: ["AccessTokenGCD"]),
        .library(name: "AccessTokenAsync", targets: ["AccessTokenAsync"]),
        .library(name: "AccessTokenAdapters", targets: ["AccessTokenAdapters"]),
        .library(name: "AccessTokenOAuth", targets: ["AccessTokenOAuth"]),
        .library(name: "AccessTokenPostgres", targets: ["AccessTokenPostgres"]),
        .library(name: "AccessTokenContract", targets: ["AccessTokenContract"]),
        .library(name: "CredentialStoreContract", targets: ["CredentialStoreContract"]),
        .library(name: "InterleavingExplorer", targets: ["InterleavingExplorer"]),
        .library(name: "LoopbackAuthorizationServer", targets: ["LoopbackAuthorizationServer"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "A credential store in PostgreSQL; it needs libpq to build.")
    ],
    targets: [
        .target(name: "AccessTokenCore", swiftSettings: settings),
        .target(name: "AccessTokenGCD", dependencies: ["AccessTokenCore"], swiftSettings: settings),
        .target(name: "AccessTokenAsync", dependencies: ["AccessTokenCore"], swiftSettings: settings),
        .target(
            name: "AccessTokenAdapters",
            dependencies: ["AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync"],
            swiftSettings: settings
        ),
        .target(
            name: "AccessTokenOAuth",
            dependencies: ["AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync"],
            swiftSettings: settings
        ),
        // Empty without the trait, and nothing looks for libpq then.
        .target(
            name: "AccessTokenPostgres",
            dependencies: [
                "AccessTokenCore", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth",
                .target(name: "CLibpq", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLibpq",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]
        ),
        .target(
            name: "AccessTokenContract",
            dependencies: ["AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters"],
            swiftSettings: settings
        ),
        .target(
            name: "CredentialStoreContract",
            dependencies: ["AccessTokenCore", "AccessTokenOAuth", "AccessTokenContract"],
            swiftSettings: settings
        ),
        .target(name: "InterleavingExplorer", swiftSettings: settings),
        .target(name: "ConsoleSupport", swiftSettings: settings),
        .target(
            name: "LoopbackAuthorizationServer",
            dependencies: ["AccessTokenCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "token-tour",
            dependencies: [
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth",
                "AccessTokenPostgres", "LoopbackAuthorizationServer", "ConsoleSupport",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "race-gallery",
            dependencies: ["InterleavingExplorer", "ConsoleSupport"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth",
                "AccessTokenPostgres", "InterleavingExplorer", "ConsoleSupport",
                .target(name: "CLibpq", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenContract",
                "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth",
                "AccessTokenContract", "CredentialStoreContract", "BuggyServices", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ExplorerTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters",
                "InterleavingExplorer", "BuggyServices", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "token-tour", "race-gallery", "ConsoleSupport", "InterleavingExplorer", "LoopbackAuthorizationServer",
                "AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync", "AccessTokenOAuth", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccessTokenOAuthTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenAsync", "AccessTokenGCD", "AccessTokenAdapters", "AccessTokenOAuth",
                "AccessTokenContract", "CredentialStoreContract", "LoopbackAuthorizationServer", "TestSupport",
            ],
            resources: [.copy("Resources/vectors.json")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccessTokenPostgresTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth", "AccessTokenPostgres",
                "CredentialStoreContract", "LoopbackAuthorizationServer", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "credential-worker",
            dependencies: ["AccessTokenCore", "AccessTokenAsync", "AccessTokenOAuth", "AccessTokenPostgres"],
            path: "Tests/CredentialWorker",
            swiftSettings: settings
        ),
        .testTarget(
            name: "KillTests",
            dependencies: [
                "AccessTokenCore", "AccessTokenOAuth", "AccessTokenPostgres", "LoopbackAuthorizationServer",
                "credential-worker", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["AccessTokenCore", "AccessTokenGCD", "AccessTokenOAuth"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "BuggyServices",
            dependencies: ["AccessTokenCore", "AccessTokenGCD", "AccessTokenAsync"],
            path: "Tests/BuggyServices",
            swiftSettings: settings
        ),
        .target(
            name: "SampleShared",
            dependencies: ["AccessTokenCore"],
            path: "Tests/SampleApplication/Shared",
            swiftSettings: settings
        ),
        .sampleStage(0, dependencies: []),
        .sampleStage(1, dependencies: ["AccessTokenGCD"]),
        .sampleStage(2, dependencies: ["AccessTokenGCD", "AccessTokenAdapters"]),
        .sampleStage(3, dependencies: ["AccessTokenGCD", "AccessTokenAdapters", "AccessTokenAsync"]),
        .sampleStage(4, dependencies: ["AccessTokenAsync"]),
        .testTarget(
            name: "SampleApplicationTests",
            dependencies: [
                "SampleShared", "SampleStage0", "SampleStage1", "SampleStage2", "SampleStage3", "SampleStage4",
                "TestSupport",
            ],
            path: "Tests/SampleApplication/Tests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "AccessTokenGCD", "AccessTokenAsync", "AccessTokenAdapters", "AccessTokenOAuth", "AccessTokenContract",
                "CredentialStoreContract", "SampleShared", "SampleStage0", "SampleStage2", "SampleStage3",
                "race-gallery", "InterleavingExplorer",
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

extension Target {
    /// The sample application at a stage of the migration, linked to what `Migration.md` says of that stage.
    static func sampleStage(_ number: Int, dependencies: [Dependency]) -> Target {
        .target(
            name: "SampleStage\(number)",
            dependencies: ["SampleShared"] + dependencies,
            path: "Tests/SampleApplication/Stage\(number)",
            swiftSettings: settings
        )
    }
}
