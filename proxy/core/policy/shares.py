"""What strangers share: each owner may take of it until it holds as much as is left for all others.

So a single owner gets half, two owners get a third each, and the next owner always finds something left, however much
the others want. The number of owners need not be known in advance.
"""

from proxy.core.errors import OwnWords, ProxyFault, TooLarge


class Shares:
    def __init__(self, total: int) -> None:
        self.most = total // 2
        """The most that one owner can hold."""
        self._left = total
        self._held: dict[str, int] = {}
        """What each owner holds, if it holds anything."""

    def take(self, owner: str, amount: int = 1) -> bool:
        """Takes so much for the owner, if it may have it; says whether it got it."""
        held, left = self._held.get(owner, 0) + amount, self._left - amount
        if held > left:
            return False
        self._held[owner] = held
        self._left = left
        return True

    def give_back(self, owner: str, amount: int = 1) -> None:
        self._left += amount
        held = self._held.pop(owner) - amount
        if held:
            self._held[owner] = held

    @property
    def taken(self) -> int:
        """By all together."""
        return sum(self._held.values())

    def has(self, owner: str) -> bool:
        return owner in self._held


class Loan:
    """The memory that one piece of work takes, step by step, until it is over."""

    __slots__ = ("_held", "_shares", "owner")

    def __init__(self, shares: Shares, owner: str) -> None:
        self._shares = shares
        self.owner = owner
        self._held = 0

    def take(self, amount: int) -> None:
        """Takes so much. Raises the fault that says that there is not so much, now or ever."""
        if amount and not self._shares.take(self.owner, amount):
            if self._held + amount > self._shares.most:
                raise TooLarge(
                    f"This takes more than {self._shares.most} bytes of memory to work on, which is the most that one "
                    "may have here: have server.memory_mib raised, or ask for less (a smaller body, a shorter history)."
                )
            raise ProxyFault(
                OwnWords("Requests under way take all memory that you may have: try again later."),
                code="server_is_overloaded",
                status=503,
                retry_after=1,
                retryable=True,
            )
        self._held += amount

    def passed_on(self) -> "Loan":
        """Hands the memory on to work that outlives this loan, which then has nothing to give back."""
        other = Loan(self._shares, self.owner)
        other._held, self._held = self._held, 0
        return other

    def end(self) -> None:
        if self._held:
            self._shares.give_back(self.owner, self._held)
            self._held = 0
