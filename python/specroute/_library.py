"""The C library: loaded once, refused where it is another than the declarations were made from."""

import ctypes
import os
import sys
import threading
import warnings

from . import _declarations as c

_HERE = os.path.dirname(os.path.abspath(__file__))


# ---- errors -----------------------------------------------------------------------------------


class SpecrouteError(Exception):
    """Every failure that the library reports. ``status`` is its number."""

    status = c.SR_ERROR_INTERNAL


class ArgumentError(SpecrouteError, ValueError):
    """An argument or option is out of range."""


class NotFoundError(SpecrouteError, ValueError):
    """No entry of that name; the sentence suggests the nearest."""


class DataError(SpecrouteError, ValueError):
    """The data do not allow this computation."""


class FormatError(SpecrouteError, ValueError):
    """An input does not have the form it should."""


class UnsupportedError(SpecrouteError, NotImplementedError):
    """This build or this method does not support it."""


class FileError(SpecrouteError, OSError):
    """An input could not be read or an output not be written."""


class OutOfMemoryError(SpecrouteError, MemoryError):
    """Memory is out."""


class TooLargeError(SpecrouteError, OverflowError):
    """A size is too large for this machine."""


class InternalError(SpecrouteError, RuntimeError):
    """An invariant inside the library failed."""


class NotConvergedWarning(UserWarning):
    """A computation did not converge; the best result is given."""


_ERRORS = {
    c.SR_ERROR_ARGUMENT: ArgumentError,
    c.SR_ERROR_MEMORY: OutOfMemoryError,
    c.SR_ERROR_OVERFLOW: TooLargeError,
    c.SR_ERROR_IO: FileError,
    c.SR_ERROR_FORMAT: FormatError,
    c.SR_ERROR_DATA: DataError,
    c.SR_ERROR_UNSUPPORTED: UnsupportedError,
    c.SR_ERROR_NOT_FOUND: NotFoundError,
    c.SR_ERROR_OUTPUT: FileError,
}


def _raise(status, message):
    if status == c.SR_ERROR_INTERRUPTED:
        raise KeyboardInterrupt(message)
    error = _ERRORS.get(status, InternalError)(message)
    error.status = status
    raise error


# ---- loading ----------------------------------------------------------------------------------


def _load(path):
    library = ctypes.CDLL(path)
    try:
        found = library.sr_abi()
    except AttributeError:
        found = None
    if found != c.ABI:
        shown = "no number" if found is None else f"{found:#x}"
        raise ImportError(
            f"{path} is another version of the specroute library than this package was made for "
            f"(it says {shown}, the package needs {c.ABI:#x}); install both from the same sources"
        )
    for name, (result, arguments) in c.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load(os.environ.get("SPECROUTE_LIBRARY") or os.path.join(_HERE, "lib", "libspecroute.so"))


def command_path():
    """Where the command stands that came with this package."""
    return os.path.join(_HERE, "bin", "specroute")


def text(value):
    """A C text as str."""
    return None if value is None else value.decode("utf-8", "replace")


def encode(value):
    """A str as a C text; None stays None."""
    if value is None:
        return None
    value = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if "\0" in value:
        raise ArgumentError("a name holds a zero byte")
    return value.encode("utf-8", "surrogatepass")


# ---- objects ----------------------------------------------------------------------------------


class Handle:
    """An object of the library, freed with its Python owner."""

    __slots__ = ("address", "_free", "_keep", "__weakref__")

    def __init__(self, free, keep=None):
        self.address = ctypes.c_void_p()
        self._free = getattr(lib, free)
        self._keep = keep  # what the object refers to

    def __del__(self, byref=ctypes.byref):  # the module may be gone by then
        if getattr(self, "address", None):
            self._free(byref(self.address))

    @property
    def _as_parameter_(self):
        return self.address

    def out(self):
        """Where a call puts the object."""
        return ctypes.byref(self.address)


# ---- calls ------------------------------------------------------------------------------------


def threads_of(n_jobs):
    """The number of threads that scikit-learn's ``n_jobs`` stands for; 0 is all cores."""
    if n_jobs is None or n_jobs == 0:
        return 0
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


class _Bar:
    """One line on stderr that says how far a long call is."""

    def __init__(self):
        self.shown = None

    def __call__(self, _, stage, done, total):
        share = f" {min(100, 100 * done // total):3d} %" if total else f" {done}"
        line = f"specroute: {text(stage)}{share}"
        if line != self.shown:
            self.shown = line
            end = "\r" if sys.stderr.isatty() else "\n"
            if end == "\r" or not total or done >= total:
                sys.stderr.write(line + end)
                sys.stderr.flush()


class _Call:
    """One call with a context of its own, so that threads and forks never share one."""

    def __init__(self, name, arguments, threads, verbose):
        self.function, self.arguments = getattr(lib, name), arguments
        self.status, self.message, self.logged = c.SR_OK, "", []
        logged = self.logged  # and not self, which would then be freed by the collector alone

        def log(_, level, message):
            if level == c.SR_LOG_WARNING:
                logged.append(text(message))

        options = c.sr_context_options()
        lib.sr_context_options_init(ctypes.byref(options))
        options.threads = threads
        self.log = c.sr_log_fn(log)
        options.log = self.log
        if verbose:
            self.progress = c.sr_progress_fn(_Bar())
            options.progress = self.progress
        self.context, self.lock = ctypes.c_void_p(), threading.Lock()
        status = lib.sr_context_new(ctypes.byref(options), ctypes.byref(self.context))
        if status:
            _raise(status, "out of memory")

    def __call__(self):
        try:
            self.status = self.function(self.context, *self.arguments)
            if self.status:
                self.message = text(lib.sr_context_error(self.context).message)
        finally:
            with self.lock:
                lib.sr_context_free(ctypes.byref(self.context))

    def interrupt(self):
        with self.lock:
            if self.context:
                lib.sr_context_interrupt(self.context)

    def in_worker(self):
        """Waits for a thread of its own, so that a signal is answered at once."""
        failed = []

        def work():
            try:
                self()
            except BaseException as error:  # handed to the caller below
                failed.append(error)

        worker = threading.Thread(target=work, daemon=True)
        try:
            worker.start()
            worker.join()
        except BaseException:
            # The library stops soon and cleans up in its thread, which keeps all it works on.
            self.interrupt()
            raise
        if failed:
            raise failed[0]


def call(name, *arguments, threads=0, verbose=False, long=False):
    """Calls a function of the library that takes a context and gives a status.

    ``long`` runs it in a thread of its own, so that Ctrl-C is answered at once. Warnings of the
    library become Python's; a failure is raised with the library's sentence.
    """
    one = _Call(name, arguments, threads, verbose)
    if long and threading.current_thread() is threading.main_thread():
        one.in_worker()
    else:
        one()
    for message in one.logged:
        warnings.warn(message, UserWarning, stacklevel=4)
    if one.status == c.SR_ERROR_NOT_CONVERGED:
        warnings.warn(one.message, NotConvergedWarning, stacklevel=3)
    elif one.status:
        _raise(one.status, one.message)


def made(free, name, *arguments, keep=None, **how):
    """Calls a function whose last argument is the object that it makes."""
    handle = Handle(free, keep)
    call(name, *arguments, handle.out(), **how)
    return handle


def described(name, handle, form):
    """An object as text, JSON, HTML or Markdown."""
    out = ctypes.c_void_p()
    call(name, handle, form, ctypes.byref(out))
    try:
        return ctypes.string_at(out.value).decode("utf-8", "replace")
    finally:
        lib.sr_bytes_free(ctypes.byref(out))


def to_bytes(name, handle):
    """An object as bytes."""
    out, count = ctypes.c_void_p(), ctypes.c_int64()
    call(name, handle, ctypes.byref(out), ctypes.byref(count))
    try:
        return ctypes.string_at(out.value, count.value)
    finally:
        lib.sr_bytes_free(ctypes.byref(out))


def set_options(what, list_function, struct, init, values):
    """A struct of options with the values that are not None; texts are kept alive by the result."""
    options = struct()
    getattr(lib, init)(ctypes.byref(options))
    kept = []
    for key, value in values.items():
        if value is None:
            continue
        shown = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        kept.append((encode(key), encode(shown)))
        call("sr_options_set", encode(what), getattr(lib, list_function)(), ctypes.addressof(options),
             *kept[-1])
    options.kept = kept
    return options
