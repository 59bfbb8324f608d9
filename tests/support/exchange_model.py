"""The exchange's rules once more, naively: plain lists, walked over.

A refused step raises ``Refused`` with the reason and leaves the state alone.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field


class Refused(Exception):  # noqa: N818 (it names an outcome)
    """A step the rules refuse."""


@dataclass
class Entry:
    """A message in an inbox."""

    number: int
    sender: int
    sequence: int
    count: int = 0
    lease: str | None = None
    expires: int = 0


@dataclass
class Owner:
    """A registered owner; the outbox holds numbers with their recipients."""

    outbox: list[tuple[int, object]] = field(default_factory=list)
    inbox: list[Entry] = field(default_factory=list)


@dataclass
class Dead:
    """A dead letter."""

    number: int
    sender: int
    reason: str
    owner: int | None
    count: int = 0

    def shown(self) -> tuple[int, str, int | None, int]:
        """Return what ``Exchange.dead`` shows of it."""
        return self.number, self.reason, self.owner, self.count


@dataclass
class Model:
    """An exchange. ``owners`` is in registration order."""

    owners: dict[int, Owner] = field(default_factory=dict)
    sequences: dict[int, int] = field(default_factory=dict)
    dead: list[Dead] = field(default_factory=list)
    at_send: bool = False
    max_deliveries: int = 16
    max_owners: int = 10_000
    max_messages: int = 1_000_000
    step_size: int = 1_000_000
    """Of the service: many expired leases come back in the order of their ends, so many at a time."""

    def queued(self) -> int:
        """Count the messages in all inboxes and outboxes."""
        return sum(len(owner.inbox) + len(owner.outbox) for owner in self.owners.values())

    def register(self, number: int, settings: dict[str, int]) -> None:
        if number in self.owners:
            raise Refused("OWNER_EXISTS")
        former = copy.copy(self.__dict__)
        self.__dict__.update(settings)
        if len(self.owners) + 1 > self.max_owners:
            self.__dict__.update(former)
            raise Refused("QUOTA_EXCEEDED")
        self.owners[number] = Owner()

    def unregister(self, number: int, now: int, give_back: bool) -> tuple[bool, list[int], list[int], int]:
        if number not in self.owners:
            return False, [], [], 0
        buried = self._settle(number, now)
        owner = self.owners.pop(number)
        if give_back:
            inbox = [entry.number for entry in owner.inbox]
            return True, inbox, [sent for sent, _ in owner.outbox], buried
        for entry in owner.inbox:
            self.dead.append(Dead(entry.number, entry.sender, "RECIPIENT_UNREGISTERED", number, entry.count))
        for sent, recipient in owner.outbox:
            meant = recipient if isinstance(recipient, int) else None
            self.dead.append(Dead(sent, number, "SENDER_UNREGISTERED", meant))
        return True, [], [], buried + len(owner.inbox) + len(owner.outbox)

    def send(self, sender: int, recipient: object, number: int) -> int:
        if sender not in self.owners:
            raise Refused("OWNER_NOT_FOUND")
        self._require_room()
        self.owners[sender].outbox.append((number, recipient))
        return self.collect(sender)[0] if self.at_send else 0

    def _require_room(self) -> None:
        if self.queued() + 1 > self.max_messages:
            raise Refused("QUOTA_EXCEEDED")

    def collect(self, number: int) -> tuple[int, int, int]:
        if number not in self.owners:
            raise Refused("OWNER_NOT_FOUND")
        outbox = self.owners[number].outbox
        delivered, buried = set(), 0
        while outbox:
            sent, recipient = outbox[0]
            if recipient == "broadcast":
                targets = [other for other in self.owners if other != number]
            else:
                targets = [other for other in self.owners if other == recipient]
            if len(targets) > 1 and self.queued() + len(targets) - 1 > self.max_messages:
                break
            del outbox[0]
            for target in targets:
                self._deliver(target, sent, number)
                delivered.add(sent)
            if not targets:
                buried += 1
                self._bury_undeliverable(sent, number, recipient)
        return len(delivered), buried, len(outbox)

    def _deliver(self, target: int, number: int, sender: int) -> int:
        sequence = self.sequences[target] = self.sequences.get(target, 0) + 1
        self.owners[target].inbox.append(Entry(number, sender, sequence))
        return sequence

    def _bury_undeliverable(self, number: int, sender: int, recipient: object) -> None:
        if isinstance(recipient, int):
            self.dead.append(Dead(number, sender, "RECIPIENT_UNKNOWN", recipient))
        elif recipient == "broadcast":
            self.dead.append(Dead(number, sender, "BROADCAST_TO_NOBODY", None))
        else:
            reason = {"role": "ROLE", "name": "NAME"}.get(str(recipient), "UNSET")
            self.dead.append(Dead(number, sender, f"RECIPIENT_{reason}", None))

    def collect_all(self) -> tuple[int, int, int]:
        each = [self.collect(number) for number in list(self.owners)]
        return sum(x for x, _, _ in each), sum(x for _, x, _ in each), sum(x for _, _, x in each)

    def _settle(self, number: int, now: int) -> int:
        """End the expired leases of an inbox; count those that died of it."""
        buried = 0
        while True:
            inbox = self.owners[number].inbox
            ended = [entry for entry in inbox if entry.lease is not None and entry.expires <= now]
            if len(inbox) <= self.step_size or len(ended) <= self.step_size:
                return buried + self._give_back(number, ended)
            until = sorted(entry.expires for entry in ended)[self.step_size]
            buried += self._give_back(number, [entry for entry in ended if entry.expires <= until])

    def _give_back(self, number: int, entries: list[Entry]) -> int:
        buried = 0
        for entry in sorted(entries, key=lambda one: one.sequence):
            if entry.count >= self.max_deliveries:
                self._bury_spent(number, entry)
                buried += 1
            else:
                entry.lease = None
        return buried

    def _bury_spent(self, number: int, entry: Entry) -> None:
        self.owners[number].inbox.remove(entry)
        self.dead.append(Dead(entry.number, entry.sender, "TOO_MANY_DELIVERIES", number, entry.count))

    def _free(self, number: int, sender: int | None) -> list[Entry]:
        inbox = self.owners[number].inbox
        return [entry for entry in inbox if entry.lease is None and sender in (None, entry.sender)]

    def pop(self, number: int, sender: int, now: int) -> int | None:
        if number not in self.owners:
            return None
        self._settle(number, now)
        free = self._free(number, sender)
        if not free:
            return None
        self.owners[number].inbox.remove(free[0])
        return free[0].number

    def lease(self, number: int, sender: int | None, most: int, now: int, expires: int) -> list[Entry]:
        """Lease; the entries are copies, whose lease ids the caller fills in by ``name_leases``."""
        if number not in self.owners:
            return []
        self._settle(number, now)
        leased: list[Entry] = []
        for entry in self._free(number, sender):
            if len(leased) == most:
                break
            if entry.count >= self.max_deliveries:
                self._bury_spent(number, entry)
                continue
            entry.count += 1
            entry.lease, entry.expires = "unnamed", expires
            leased.append(entry)
        return leased

    def acknowledge(self, number: int, leases: list[str], now: int) -> None:
        for entry in self._held(number, leases, now):
            self.owners[number].inbox.remove(entry)

    def reject(self, number: int, leases: list[str], now: int) -> int:
        return self._give_back(number, self._held(number, leases, now))

    def _held(self, number: int, leases: list[str], now: int) -> list[Entry]:
        inbox = self.owners[number].inbox if number in self.owners else []
        held = [entry for entry in inbox if entry.lease in leases and entry.expires > now]
        if len(held) < len(leases):
            raise Refused("LEASE_LOST")
        return held

    def redrive(self, index: int, recipient: int | None) -> int:
        dead = self.dead[index]
        target = dead.owner if recipient is None else recipient
        if target is None:
            raise Refused("FIELD_INVALID")
        if target not in self.owners:
            raise Refused("OWNER_NOT_FOUND")
        self._require_room()
        del self.dead[index]
        return self._deliver(target, dead.number, dead.sender)
