"""What strangers share: each may take of it until it holds as much as is left for all others.

So one alone gets half, two get a third each, and whoever comes next always finds something, however much the others
want: nobody needs to be told how many there will be.
"""

from proxy.core.errors import OwnWords, ProxyFault, TooLarge


class Shares:
    def __init__(self, total: int) -> None:
        self.most = total // 2
        """That one may ever hold."""
        self._left = total
        self._held: dict[str, int] = {}
        """By owner, of those that hold any."""

    def take(self, owner: str, amount: int = 1) -> bool:
        """Whether the owner has got it."""
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

    def has(self, owner: str) -> bool:
        return owner in self._held


class Loan:
    """What one piece of work takes of the memory, bit by bit, until it is over."""

    __slots__ = ("_held", "_owner", "_shares")

    def __init__(self, shares: Shares, owner: str) -> None:
        self._shares = shares
        self._owner = owner
        self._held = 0

    def take(self, amount: int) -> None:
        """Raises what says that there is not so much, now or ever."""
        if self._held + amount > self._shares.most:
            raise TooLarge(
                f"To work on this takes more than {self._shares.most} bytes of memory, which is the most that one "
                "may have here: send less, or fewer values, or have server.memory_mib raised."
            )
        if amount and not self._shares.take(self._owner, amount):
            raise ProxyFault(
                OwnWords("Requests under way take all memory that you may have: try again later."),
                code="server_is_overloaded",
                status=503,
                retry_after=1,
                retryable=True,
            )
        self._held += amount

    def take_up(self, weight: int, size: int) -> None:
        """For work with what was read from so many bytes, which were taken before."""
        self.take(weight - size)

    def end(self) -> None:
        if self._held:
            self._shares.give_back(self._owner, self._held)
            self._held = 0
