"""Batches that a thread takes from the feed and copies to a device, while the trainer works on the one before."""

from __future__ import annotations

import collections
import importlib.util
import queue
import threading
import warnings
from collections.abc import Iterator
from typing import Any, Callable

_END = object()
_QUEUED = 3  # batches whose work a device has not done, after which a trainer waits for it


class Ahead:
    """The items of an iterator, which a thread takes ahead. The thread ends with the iterator, or at `close`.

    Args:
        items: what to take. Only the thread uses it.
        depth: number of items that wait, besides the one in the making.
    """

    def __init__(self, items: Iterator[Any], depth: int = 1) -> None:
        self._queue: queue.Queue[Any] = queue.Queue(depth)
        self._stop = threading.Event()
        self.done = False  # all items were taken
        self._thread = threading.Thread(target=self._take, args=(items,), daemon=True, name="graphmill-ahead")
        self._thread.start()

    def _take(self, items: Iterator[Any]) -> None:
        try:
            for item in items:
                if not self._put(item):
                    return
                del item
            self._put(_END)
        except BaseException as e:  # the trainer's thread raises it
            self._put(e)

    def _put(self, item: Any) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    def __iter__(self) -> Ahead:
        return self

    def __next__(self) -> Any:
        while True:
            try:
                item = self._queue.get(timeout=1)
                break
            except queue.Empty:
                if self._stop.is_set() or (not self._thread.is_alive() and self._queue.empty()):
                    raise StopIteration from None
        if item is _END:
            self.done = True
            self.close()
            raise StopIteration
        if isinstance(item, BaseException):
            self.close()
            raise item
        return item

    def close(self) -> None:
        """End the thread, which first gets the item that it waits for, and drop what was taken."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        while not self._queue.empty():
            self._queue.get_nowait()


def check_device(device: Any) -> None:
    """Reject a device that torch does not have. Without torch, the form of the batches is the error.

    Raises:
        ValueError: the device is unknown, or not there.
    """
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    have = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    expected = f"expected a device that torch has: {', '.join(have)}"
    try:
        d = torch.device(device)
    except (RuntimeError, TypeError) as e:
        raise ValueError(f"found device={device!r}, {expected}") from e
    if d.type == "cuda":
        if (d.index or 0) >= len(have) - 1:
            why = (
                "this torch is built without CUDA"
                if torch.version.cuda is None and torch.version.hip is None
                else "torch.cuda.device_count() says what it sees"
            )
            raise ValueError(f"found device={device!r}, {expected}; {why}")
        return
    try:
        torch.empty(0, device=d)
    except (RuntimeError, NotImplementedError, AssertionError) as e:
        raise ValueError(f"found device={device!r}, {expected}") from e


_streams: dict[Any, Any] = {}


def stream_of(device: Any) -> Any:
    """The stream on which batches are copied to a CUDA device. The trainer uses another one.

    All loaders and passes share it, because torch's allocator gives memory that was freed only to the stream that had it.

    Args:
        device: of torch, with its number.
    """
    import torch

    if device not in _streams:
        _streams[device] = torch.cuda.Stream(device)
    return _streams[device]


class Mover:
    """Copies batches of torch tensors to a device, or to pinned memory.

    For a CUDA device, batches are copied from pinned memory on a stream of their own; `arrived` makes the trainer's stream
    wait for the copies of its batch, and nothing else waits.
    """

    def __init__(self, device: Any, pin: bool, warn: bool = True) -> None:
        import torch

        self._torch, self._stream = torch, None
        self._used: collections.deque[Any] = collections.deque()  # events at the end of the trainer's work on batches
        self._device = None if device is None else self.device_of(device)
        self._pin = pin or (self._device is not None and self._device.type == "cuda")
        if self._device is not None and self._device.type == "cuda":
            self._stream = stream_of(self._device)
        if self._pin and not torch.cuda.is_available():
            if warn:
                warnings.warn("found pin_memory=True without a CUDA device, so batches are not pinned", stacklevel=5)
            self._pin = False

    @classmethod
    def of(cls, device: Any, pin: bool, warn: bool = True) -> Mover | None:
        """A mover for these options; None if batches stay as they are. ``warn`` says whether to warn of options without an effect."""
        if device is None and not pin:
            return None
        mover = cls(device, pin, warn)
        return None if not mover._pin and (mover._device is None or mover._device.type == "cpu") else mover

    @staticmethod
    def is_cuda(device: Any) -> bool:
        """Whether the value of an option is a CUDA device. It calls no CUDA, so that the process can fork."""
        if device is None:  # which needs no torch
            return False
        import torch

        cuda: bool = torch.device(device).type == "cuda"
        return cuda

    @staticmethod
    def device_of(device: Any) -> Any:
        """A device of torch for the value of an option; None is the processor. A CUDA device has its number: threads differ in what is the current one."""
        import torch

        found = torch.device("cpu" if device is None else device)
        if found.type == "cuda" and found.index is None:
            return torch.device("cuda", torch.cuda.current_device())
        return torch.device("cpu") if found.type == "cpu" else found

    def __call__(self, batch: Any) -> tuple[Any, Any]:
        """A copy of the batch, and the event that says that it is complete, None if it is."""
        if self._pin:
            batch = each(batch, "pin_memory")
        if self._device is None:
            return batch, None
        if self._stream is None:
            return each(batch, "to", self._device), None
        with self._torch.cuda.stream(self._stream):
            batch = each(batch, "to", self._device, non_blocking=True)
        return batch, self._stream.record_event()

    def arrived(self, batch: Any, event: Any) -> None:
        """Make the current stream wait for a batch."""
        if event is not None:
            stream = self._torch.cuda.current_stream(self._device)
            stream.wait_event(event)
            each(batch, "record_stream", stream)  # its memory is not used again before the stream is done with it

    def hold_back(self) -> None:
        """Wait until the device has done the trainer's work on all batches but the last few.

        Without it, a trainer that never waits for the device could queue the work of many batches, which all have memory of the device until it is done.
        """
        if self._stream is not None:
            self._used.append(self._torch.cuda.current_stream(self._device).record_event())
            if len(self._used) > _QUEUED:
                self._used.popleft().synchronize()


def each(x: Any, method: str, *arguments: Any, **options: Any) -> Any:
    """A batch with a method applied to its graphs and tensors; what lacks the method stays as it is."""
    if isinstance(x, (list, tuple)):
        parts = [each(v, method, *arguments, **options) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)  # a named tuple takes its fields
    if isinstance(x, dict):
        return {k: each(v, method, *arguments, **options) for k, v in x.items()}
    f: Callable[..., Any] | None = getattr(x, method, None)
    return x if f is None else f(*arguments, **options)
