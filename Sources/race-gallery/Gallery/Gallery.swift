/// All exhibits, in the order in which they are shown.
enum Gallery {
    static let exhibits = [
        BankAccount.exhibit,
        Rollback.exhibit,
        Turns.exhibit,
        Wallet.exhibit,
        OrderedLog.exhibit,
        ImageCache.exhibit,
        DataCache.exhibit,
        SharedTask.exhibit,
        CancelledWaiter.exhibit,
        WakeOrder.exhibit,
        OAuthProcessor.exhibit,
        SignOut.exhibit,
        PinnedExecutor.exhibit,
        WorkOutside.exhibit,
    ]
}
