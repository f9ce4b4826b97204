"""The one event loop of this process on which every model is asked.

Clients of the model libraries belong to the loop they were first used on, so threads that each run their own break
each other ("bound to a different event loop", seen in 6 of 24 calls). Here all threads hand their coroutines to one.
May not: know what the coroutines do. Invariants: at most one loop per process, started by the first `run`, never
inherited over a fork; `close` leaves neither the thread nor a task behind, and a later `run` starts afresh.
"""

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# Closing waits this long for the closers and for the thread: a shutdown has a bound, open connections have none.
CLOSE_SECONDS = 3.0

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_closers: list[Callable[[], Awaitable[None]]] = []


class LoopTimeout(Exception):
    """The coroutine was not done in time; it was cancelled."""


def run(coro: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
    """Run *coro* on the process's loop and block this thread for its result.

    *timeout* is in seconds; past it the coroutine is cancelled and LoopTimeout raised. Anything else that ends the
    wait (an interrupt, a worker that is told to stop) cancels the coroutine too. Never call it on the loop itself.
    """
    future = asyncio.run_coroutine_threadsafe(coro, _running())
    try:
        return future.result(timeout)
    except concurrent.futures.CancelledError:
        raise LoopTimeout("The model loop was closed.") from None
    except TimeoutError:
        if future.done():
            raise  # the coroutine's own
        future.cancel()
        raise LoopTimeout(f"Not done after {timeout} s.") from None
    except BaseException:
        future.cancel()
        raise


def soon(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Have the coroutine of *make* run on the loop, if there is one, without waiting for it. Starts no loop."""
    with _lock:
        if _loop is not None:
            asyncio.run_coroutine_threadsafe(make(), _loop)


def at_close(closer: Callable[[], Awaitable[None]]) -> None:
    """Have *closer* awaited on the loop when it closes. Kept over restarts; the same one is kept once."""
    with _lock:
        if closer not in _closers:
            _closers.append(closer)


def running() -> bool:
    """Whether this process has a loop now."""
    return _loop is not None


def close() -> None:
    """Cancel what runs, await the closers, end the thread: at most `CLOSE_SECONDS` each. Without a loop: nothing."""
    global _loop, _thread
    with _lock:
        loop, thread, closers = _loop, _thread, list(_closers)
        _loop = _thread = None
    if loop is None or thread is None:
        return
    ending = asyncio.run_coroutine_threadsafe(_wind_up(closers), loop)
    with contextlib.suppress(Exception):
        ending.result(CLOSE_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSE_SECONDS)
    if not thread.is_alive():
        loop.close()


async def _wind_up(closers: list[Callable[[], Awaitable[None]]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    for closer in closers:
        with contextlib.suppress(Exception):
            await closer()


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            # A daemon: a model that never answers must not keep a process alive that has said it is done.
            _thread = threading.Thread(target=_serve, args=(_loop,), name="layby-models", daemon=True)
            _thread.start()
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _forget() -> None:
    # In the child of a fork: the parent's thread isn't here, and its lock may have been held.
    global _loop, _thread, _lock
    _loop = _thread = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
atexit.register(close)
