"""The answer of a model to a series that is still coming in."""
import ctypes

import numpy as np

from ._library import ArgumentError, c, lib, made


class Stream:
    """A trained model along a stream: constant memory, an answer after each sample.

    ``model.stream()`` makes one, for ``mamba`` with scaling ``training``, ``running`` or ``none``.
    After the last sample and :meth:`end` the answer is that of ``predict_proba`` to the whole series,
    to the bit. With ``causal=yes`` no answer waits for samples ahead.

    >>> import numpy as np, specroute
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(30, 1, 40)).astype(np.float32)
    >>> y = np.arange(30) % 2
    >>> X[y == 1] += np.sin(np.arange(40) / 2)
    >>> learner = "mamba:steps=4,width=16,blocks=1,scaling=running,causal=yes"
    >>> model = specroute.SpecrouteClassifier(learner, "whole", n_estimators=1, evaluate=False,
    ...                                       random_state=1).fit(X, y)
    >>> stream = model.stream()
    >>> answers = [stream.push(sample) for sample in X[0].T]
    >>> bool((stream.end() == model.predict_proba(X[:1])[0]).all())
    True
    """

    def __init__(self, model):
        self.classes_ = model.classes_
        self._model = model._model
        self._handle = made("sr_stream_free", "sr_stream_new", self._model, keep=self._model)
        self.channels = lib.sr_ensemble_get(self._model).contents.channels
        self._share = np.empty(len(self.classes_), np.float32)

    def start(self):
        """Forgets all samples: the next one begins another series."""
        lib.sr_stream_start(self._handle)

    def push(self, sample):
        """The next sample, a value per channel (NaN: missing). Gives the shares so far, see
        :attr:`classes_`, or None while nothing can be said."""
        sample = np.ascontiguousarray(sample, dtype=np.float32).reshape(-1)
        if len(sample) != self.channels:
            raise ArgumentError(f"a sample has {len(sample)} values, the model was trained on "
                                f"{self.channels} channels")
        lib.sr_stream_push(self._handle, sample.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return self.proba()

    def end(self):
        """Tells the stream that no sample follows. Gives the shares for the whole series."""
        lib.sr_stream_end(self._handle)
        return self.proba()

    def proba(self):
        """The shares so far, or None while nothing can be said."""
        share = self._share.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if lib.sr_stream_answer(self._handle, share) < 0:
            return None
        shares = self._share[None].astype(np.float64)
        return (shares / shares.sum(axis=1, keepdims=True))[0]  # as predict_proba

    def answer(self):
        """The class so far, or None while nothing can be said."""
        code = lib.sr_stream_answer(self._handle, None)
        return None if code < 0 else self.classes_[code]
