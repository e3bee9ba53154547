/// All comparisons, in the order of the table.
enum Rows {
    static func all(isQuick: Bool) -> [Comparison] {
        HitRows.all(isQuick: isQuick) + AccountRow.all(isQuick: isQuick) + WaiterRows.all(isQuick: isQuick)
            + [ExplorerRow.comparison(isQuick: isQuick)]
    }
}
