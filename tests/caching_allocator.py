"""A model of torch's CUDA caching allocator: the bytes that it keeps after torch.cuda.empty_cache.

One stream and torch's own settings, after c10/cuda/CUDACachingAllocator.cpp: the best fit among
blocks of 512 bytes, a pool for those up to 1 MiB. A segment goes back as a whole, an expandable one
by pages.
"""

import weakref
from math import inf

from lab.training.counter import BLOCK, Counter

MIB = 2**20


class Recorder(Counter):
    """Notes each allocation as (number, bytes) and its end as (number, 0)."""

    def __init__(self):
        super().__init__()
        self.events = []

    def _hold(self, storage):
        if id(storage) not in self._storages:
            number = len(self.events)
            self.events.append((number, -(-max(storage.nbytes(), 1) // BLOCK) * BLOCK))
            weakref.finalize(storage, self.events.append, (number, 0))
        super()._hold(storage)


class Pool:
    """`free` maps a start to (size, whether memory is there), `ends` an end to its start."""

    def __init__(self, small, expandable):
        self.small, self.page = small, (2 if small else 20) * MIB if expandable else 0
        self.free, self.ends, self.used, self.segments, self.last = {}, {}, {}, {}, 0
        if expandable:
            self.put(0, inf, False)

    def put(self, start, size, there):
        before = self.ends.get(start)
        if before is not None and self.free[before][1] == there:
            start, size = before, size + self.take(before)
        if self.free.get(start + size, (0, not there))[1] == there:
            size += self.take(start + size)
        self.free[start], self.ends[start + size] = (size, there), start

    def take(self, start):
        size, _ = self.free.pop(start)
        del self.ends[start + size]
        return size

    def allocate(self, number, size):
        fitting = [
            (free + self.free.get(at + free, (0,))[0], at)  # with what it can grow by
            for at, (free, there) in self.free.items()
            if there and free >= size
        ]
        at = min(fitting)[1] if fitting else self.grow(size)
        left = self.take(at) - size
        if left >= BLOCK and (self.page or self.small or left > MIB):
            self.put(at + size, left, True)
            left = 0
        self.used[number] = at, size + left

    def grow(self, size):
        """The start of a free block of at least `size` bytes, for which memory is fetched."""
        if not self.page:
            whole = 2 * MIB if self.small else 20 * MIB
            whole = whole if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
            at, self.last = self.last + 1, self.last + 1 + whole  # a byte away from its neighbour
            self.segments[at] = whole
            self.put(at, whole, True)
            return at
        for at in sorted(self.free):
            end = at
            while end < at + size and end in self.free:
                free, there = self.free[end]
                end += free
            if end >= at + size:
                break
        cut = end if there else min(end, -(-(at + size) // self.page) * self.page)
        start = at
        while start < end:
            start += self.take(start)
        self.put(at, cut - at, True)
        if end > cut:
            self.put(cut, end - cut, False)
        return at

    def kept(self):
        """Bytes of blocks in use, and of free ones that share a segment or a page with them."""
        kept = sum(size for _, size in self.used.values())
        for at, (size, there) in self.free.items():
            back = size * (self.segments.get(at) == size)
            if self.page and there:
                back = max(0, (at + size) // self.page - -(-at // self.page)) * self.page
            kept += size - back if there else 0
        return kept


def reserved_after(events, expandable):
    """Bytes that torch keeps from the driver after these events and empty_cache."""
    pools = [Pool(True, expandable), Pool(False, expandable)]
    owner = {}
    for number, size in events:
        if size:
            owner[number] = pools[size > MIB]
            owner[number].allocate(number, size)
        else:
            pool = owner[number]
            pool.put(*pool.used.pop(number), True)
    return sum(pool.kept() for pool in pools)
