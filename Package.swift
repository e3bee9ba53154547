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
    // For a function of the C libraries for Linux that their headers hide.
    .enableExperimentalFeature("Extern"),
    // For what needs a task executor, `Mutex` or `Duration`.
    .enableExperimentalFeature("AvailabilityMacro=Executors:macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2"),
]

// `.ci/run` and `.ci/deep` set it: a newer compiler's warning fails our checks, and no consumer's build.
let isChecked = Context.environment["ACCESS_TOKEN_SERVICE_CHECKS"] != nil
let settings = features + (isChecked ? [.treatAllWarnings(as: .error)] : [])

// What an app links runs on the oldest of these. Our tests use clocks and executors that are newer, which a Mac only
// builds for newer systems: set the variable there.
let oldest: [SupportedPlatform] = [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)]
let newer: [SupportedPlatform] = [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)]

// The groups of targets are the folders of `Sources` and `Tests`.

let core: [Target.Dependency] = ["AccessTokenSynchronization", "AccessTokenCore"]
let coreAndServices = core + ["AccessTokenGCD", "AccessTokenAsync"]
let services: [Target.Dependency] = coreAndServices + ["AccessTokenAdapters"]

let servicesGroup: [Target] = [
    .library("AccessTokenFoundation", in: "Services"),
    .library("AccessTokenSynchronization", in: "Services", ["AccessTokenFoundation"]),
    .library("AccessTokenCore", in: "Services", ["AccessTokenFoundation", "AccessTokenSynchronization"]),
    .library("AccessTokenGCD", in: "Services", core),
    .library("AccessTokenAsync", in: "Services", core),
    .library("AccessTokenAdapters", in: "Services", coreAndServices),
    .tests("ServiceTests", at: "Services", services + ["AccessTokenContract", "TestSupport"]),
]

let contractsGroup: [Target] = [
    .library("ContractHarness", in: "Contracts", core),
    .library("AccessTokenContract", in: "Contracts", services + ["ContractHarness"]),
    .library("CredentialStoreContract", in: "Contracts", core + ["AccessTokenOAuth", "ContractHarness"]),
    .tests(
        "ContractTests",
        at: "Contracts",
        services + [
            "AccessTokenOAuth", "AccessTokenContract", "CredentialStoreContract", "BuggyServices", "TestSupport",
        ]
    ),
]

let oauthGroup: [Target] = [
    .library("OAuthFoundation", in: "OAuth", ["AccessTokenSynchronization"]),
    .library("AccessTokenOAuth", in: "OAuth", coreAndServices + ["OAuthFoundation"]),
    // Empty without the trait, and nothing looks for libpq then.
    .library(
        "AccessTokenPostgres",
        in: "OAuth",
        core + [
            "AccessTokenAsync", "AccessTokenOAuth",
            .target(name: "CLibpq", condition: .when(traits: ["Postgres"])),
        ]
    ),
    .systemLibrary(
        name: "CLibpq",
        path: "Sources/OAuth/CLibpq",
        pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]
    ),
    // Empty without the trait, and nothing looks for libcrypto then.
    .library(
        "AccessTokenOpenSSL",
        in: "OAuth",
        ["AccessTokenOAuth", .target(name: "CLibcrypto", condition: .when(traits: ["OpenSSL"]))]
    ),
    .systemLibrary(
        name: "CLibcrypto",
        path: "Sources/OAuth/CLibcrypto",
        pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]
    ),
    .library("LoopbackAuthorizationServer", in: "OAuth", core + ["OAuthFoundation"]),
    .program("loopback-server", at: "Sources/OAuth/LoopbackServer", ["LoopbackAuthorizationServer"]),
    .program(
        "token-reply",
        at: "Sources/OAuth/TokenReply",
        core + ["AccessTokenOAuth", "OAuthFoundation", "ConsoleSupport"]
    ),
    .tests(
        "AccessTokenOAuthTests",
        at: "OAuth/AccessTokenOAuthTests",
        services + [
            "AccessTokenOAuth", "AccessTokenOpenSSL", "AccessTokenContract", "CredentialStoreContract",
            "LoopbackAuthorizationServer", "OAuthFoundation", "ConsoleSupport", "TestKeys", "TestSupport",
            "token-reply",
        ]
    ),
    .tests(
        "AccessTokenPostgresTests",
        at: "OAuth/AccessTokenPostgresTests",
        core + [
            "AccessTokenAsync", "AccessTokenOAuth", "AccessTokenPostgres",
            "AccessTokenContract", "ContractHarness", "CredentialStoreContract", "LoopbackAuthorizationServer",
            "TestSupport",
        ]
    ),
    .program(
        "credential-worker",
        at: "Tests/OAuth/CredentialWorker",
        core + ["AccessTokenAsync", "AccessTokenOAuth", "AccessTokenPostgres", "TestKeys"]
    ),
    .tests(
        "KillTests",
        at: "OAuth/KillTests",
        core + [
            "AccessTokenAsync", "AccessTokenOAuth", "AccessTokenPostgres",
            "LoopbackAuthorizationServer", "credential-worker", "TestKeys", "TestSupport",
        ]
    ),
]

let exploringGroup: [Target] = [
    .library("InterleavingExplorer", in: "Exploring"),
    .program("race-gallery", at: "Sources/Exploring/RaceGallery", ["InterleavingExplorer", "ConsoleSupport"]),
    .tests(
        "ExplorerTests",
        at: "Exploring/ExplorerTests",
        services + ["InterleavingExplorer", "BuggyServices", "TestSupport"]
    ),
    .tests(
        "GalleryTests",
        at: "Exploring/GalleryTests",
        ["race-gallery", "ConsoleSupport", "InterleavingExplorer", "AccessTokenContract", "TestSupport"]
    ),
]

let programsGroup: [Target] = [
    .library("ConsoleSupport", in: "Programs"),
    .program(
        "token-tour",
        at: "Sources/Programs/TokenTour",
        services + ["AccessTokenOAuth", "LoopbackAuthorizationServer", "ConsoleSupport"]
    ),
    .program(
        "benchmarks",
        at: "Sources/Programs/Benchmarks",
        coreAndServices + ["AccessTokenOAuth", "AccessTokenPostgres", "OAuthFoundation", "ConsoleSupport"]
    ),
    .tests(
        "ProgramTests",
        at: "Programs",
        coreAndServices + [
            "token-tour", "ConsoleSupport", "LoopbackAuthorizationServer", "AccessTokenOAuth", "TestSupport",
        ]
    ),
]

let migrationGroup: [Target] = [
    .library("SampleShared", at: "Tests/Migration/SampleApplication/Shared", core),
    .sampleStage(0, []),
    .sampleStage(1, ["AccessTokenGCD"]),
    .sampleStage(2, ["AccessTokenGCD", "AccessTokenAdapters"]),
    .sampleStage(3, ["AccessTokenGCD", "AccessTokenAdapters", "AccessTokenAsync"]),
    .sampleStage(4, ["AccessTokenAsync"]),
    .library("SampleCallbacks", at: "Tests/Migration/SampleApplication/Callbacks", ["SampleShared", "AccessTokenGCD"]),
    .program(
        "friends-sample",
        at: "Tests/Migration/SampleApplication/FriendsSample",
        core + ["SampleShared", "AccessTokenAsync"]
    ),
    .tests(
        "SampleApplicationTests",
        at: "Migration/SampleApplication/Tests",
        [
            "SampleShared", "SampleStage0", "SampleStage1", "SampleStage2", "SampleStage3", "SampleStage4",
            "SampleCallbacks",
            "friends-sample", "TestSupport",
        ]
    ),
    .program("notes-tool", at: "Tests/Migration/CommandLineTool", ["AccessTokenOAuth"]),
    .tests(
        "DocumentationTests",
        at: "Migration/DocumentationTests",
        services + [
            "AccessTokenOAuth", "AccessTokenContract",
            "LoopbackAuthorizationServer", "CredentialStoreContract", "SampleShared", "SampleStage2", "loopback-server",
            "notes-tool", "OAuthFoundation", "TestKeys", "TestSupport",
        ]
    ),
]

let supportGroup: [Target] = [
    .library(
        "TestSupport",
        at: "Tests/Support/TestSupport",
        core + ["AccessTokenGCD", "ConsoleSupport"]
    ),
    .library("TestKeys", at: "Tests/Support/TestKeys", ["AccessTokenOAuth"]),
    .library("BuggyServices", at: "Tests/Support/BuggyServices", coreAndServices),
]

let package = Package(
    name: "access-token-service",
    platforms: isChecked ? newer : oldest,
    products: [
        .library(name: "AccessTokenGCD", targets: ["AccessTokenGCD"]),
        .library(name: "AccessTokenAsync", targets: ["AccessTokenAsync"]),
        .library(name: "AccessTokenAdapters", targets: ["AccessTokenAdapters"]),
        .library(name: "AccessTokenContract", targets: ["AccessTokenContract"]),
        .library(name: "CredentialStoreContract", targets: ["CredentialStoreContract"]),
        .library(name: "AccessTokenOAuth", targets: ["AccessTokenOAuth"]),
        .library(name: "AccessTokenPostgres", targets: ["AccessTokenPostgres"]),
        .library(name: "AccessTokenOpenSSL", targets: ["AccessTokenOpenSSL"]),
        .library(name: "LoopbackAuthorizationServer", targets: ["LoopbackAuthorizationServer"]),
        .library(name: "InterleavingExplorer", targets: ["InterleavingExplorer"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "A credential store in PostgreSQL; it needs libpq to build."),
        .trait(name: "OpenSSL", description: "Keys for proofs of possession (DPoP); it needs libcrypto to build."),
    ],
    targets: [
        servicesGroup, contractsGroup, oauthGroup, exploringGroup, programsGroup, migrationGroup, supportGroup,
    ].flatMap(\.self),
    swiftLanguageModes: [.v6]
)

extension Target {
    /// The sample application at a stage of the migration, linked to what `Migration.md` says of that stage.
    static func sampleStage(_ number: Int, _ dependencies: [Dependency]) -> Target {
        .library(
            "SampleStage\(number)",
            at: "Tests/Migration/SampleApplication/Stage\(number)",
            ["SampleShared"] + dependencies
        )
    }

    static func library(_ name: String, in group: String, _ dependencies: [Dependency] = []) -> Target {
        .library(name, at: "Sources/\(group)/\(name)", dependencies)
    }

    static func library(_ name: String, at path: String, _ dependencies: [Dependency]) -> Target {
        .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
    }

    /// A program, by the name of its command.
    ///
    /// It is no product: no target of a consumer could have the name of one of its targets then.
    static func program(_ name: String, at path: String, _ dependencies: [Dependency]) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
    }

    static func tests(
        _ name: String,
        at path: String,
        _ dependencies: [Dependency]
    ) -> Target {
        .testTarget(name: name, dependencies: dependencies, path: "Tests/\(path)", swiftSettings: settings)
    }
}
