"""What strangers share: each may take of it until it holds as much as is left for all others.

So one alone gets half, two get a third each, and whoever comes next always finds something, however much the others
want: nobody needs to be told how many there will be.
"""


class Shares:
    def __init__(self, total: int) -> None:
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
