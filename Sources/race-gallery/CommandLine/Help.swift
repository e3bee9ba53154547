/// The help text.
enum Help {
    static let text = """
        usage: race-gallery [NAME [VERSION]] [--mermaid]
               race-gallery NAME VERSION --replay SCHEDULE [--mermaid]
               race-gallery --list | --help

        Each exhibit is a small system with one scenario and several versions: as it was published,
        with the fixes that hold, and with fixes that do not. Every version is run under every order
        in which its tasks can interleave. A version that breaks an invariant shows the order that
        does it; one that holds says how many orders there are.

          NAME                only this exhibit, with a diagram of every version that breaks
          VERSION             only this version of it
          --replay SCHEDULE   run one schedule, such as 0001, and show it step by step
          --mermaid           print a Markdown page, with the diagrams in Mermaid
          --list              print the names of all exhibits and versions
          --help              print this text

        A diagram has a line for each operation of the scenario, and one for the world outside: the
        server, the disk, the clock, a cancellation. What a task does is shown at the operation that
        started it. The numbers are those of the steps: a line without one belongs to the step above
        it, and steps in which there is nothing to see are left out. A * marks a step that ran ahead
        of its turn: without it, the order is first in, first out.

        A schedule has a digit for each moment at which more than one step could be next: 0 for the
        one that had waited longest. It holds for one build configuration, since the optimizer
        removes steps.

        exit status:
          0    every verdict is as expected
          1    one is not, or a schedule does not fit
          64   the arguments make no sense
          74   standard output could not be written
        """

    /// All names, for `--list`.
    static var list: String {
        Gallery.exhibits
            .map { exhibit in
                let width = exhibit.versions.map(\.name.count).max() ?? 0
                let versions = exhibit.versions.map { version in
                    "  \(version.name.padded(to: width))  \(version.origin.rawValue): \(version.summary)"
                }
                return (["\(exhibit.name): \(exhibit.title)"] + versions).joined(separator: "\n")
            }
            .joined(separator: "\n\n")
    }
}
