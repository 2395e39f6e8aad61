"""Splitters that hold out whole parts, for every ``cv=`` of scikit-learn."""

import ctypes

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from . import _declarations as c
from ._library import DataError, lib, made, set_options
from .functions import diagnose, seed_of
from .table import shown


class PartKFold(BaseCrossValidator):
    """Folds of whole parts, blocks or groups, with a buffer that belongs to neither side.

    Rows near a held-out part are left out of training, so that what is held out is new. ``graph``,
    ``tmix``, ``coords`` and ``times`` are as in :func:`specroute.diagnose`; arrays have one entry
    per row of the X that is split. ``buffer`` None is by T. Rows with fewer groups or parts than
    ``n_splits`` are refused.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=500,tmix=5,d=2", random_state=1)
    >>> folds = specroute.PartKFold(4, random_state=0)
    >>> sum(len(test) for _, test in folds.split(table.X, table.y))
    500
    """

    def __init__(self, n_splits=5, *, graph=None, tmix=None, parts=None, coords=None, times=None,
                 buffer=None, random_state=0):
        self.n_splits = n_splits
        self.graph = graph
        self.tmix = tmix
        self.parts = parts
        self.coords = coords
        self.times = times
        self.buffer = buffer
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        """Number of folds."""
        return self.n_splits

    def _roles(self, X, y, groups):
        seed = seed_of(self.random_state)
        structure = diagnose(X, y, graph=self.graph, groups=groups, coords=self.coords,
                             times=self.times, tmix=self.tmix, parts=self.parts, random_state=seed)
        handle = self._folds(structure, seed)
        view = lib.sr_folds_get(handle).contents
        if view.folds < self.n_splits:
            raise DataError(f"{self!r} found {view.folds} units to hold out (groups, parts or blocks of "
                            f"rows); take n_splits={view.folds} or give more of them")
        role = np.array(shown(view.role, (view.folds, view.rows), np.uint8, handle))
        return role if structure._order is None else role[:, np.argsort(structure._order)]

    def _folds(self, structure, seed):
        options = set_options(type(self).__name__, "sr_folds_option_list", c.sr_folds_options,
                              "sr_folds_options_init",
                              {"folds": int(self.n_splits),
                               "buffer": self.buffer if self.buffer is None else int(self.buffer)})
        return made("sr_folds_free", "sr_folds_new", structure._handle, ctypes.byref(options), seed)

    def split(self, X, y=None, groups=None):
        """Yields indices of training and of held-out rows."""
        for role in self._roles(X, y, groups):
            yield np.flatnonzero(role == c.SR_ROLE_TRAIN), np.flatnonzero(role == c.SR_ROLE_TEST)

    def __repr__(self):
        return f"{type(self).__name__}(n_splits={self.n_splits})"


class ForwardSplit(PartKFold):
    """Folds of the future: each trains on the rows before a buffer and tests on those after it.

    The first block is never tested. Rows are taken in their order, or in that of ``times``.

    >>> import numpy as np, specroute
    >>> X = np.arange(12.0)[:, None]
    >>> for train, test in specroute.ForwardSplit(2, buffer=1).split(X):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2] [4, 5, 6, 7]
    [0, 1, 2, 3, 4, 5, 6] [8, 9, 10, 11]
    """

    def __init__(self, n_splits=5, *, tmix=None, times=None, buffer=None, random_state=0):
        super().__init__(n_splits, tmix=tmix, times=times, buffer=buffer, random_state=random_state)

    def _folds(self, structure, seed):
        return made("sr_folds_free", "sr_folds_forward", structure._handle, int(self.n_splits),
                    -1 if self.buffer is None else int(self.buffer))
