"""Calls of libraries that run a function in a thread for who waits for it. Data only: cheap to import."""

IN_THREAD = {"to_thread": 0, "run_in_threadpool": 0, "run_sync": 0, "run_in_executor": 1}
"""By name: the place at which they take the function; what it gets stands behind it (asyncio, Starlette, AnyIO)."""
