"""The e-LSTM that paper 003 (Irie, Csordas, Schmidhuber 2023) compares with.

Its equations (App. C.3, Eq. 17-21; "QuasiLSTM" in the released code): every cell sees the last state of itself alone.

    f = sigmoid(F x + w_f * c_{t-1} + b_f)        z = tanh(Z x + w_z * c_{t-1} + b_z)
    c_t = f * c_{t-1} + (1 - f) * z               h_t = sigmoid(O x + W_o c_t + b_o) * c_t

The paper prints no biases; the released code has them, and one layer only (the search in the text has one and two).

Letters: B batch, T time, E width of the input, D cells; x input, c state, f forget gate, z what is new, h output, s the
parts of f and z that do not depend on c.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.backend import FORMS, is_compiled, run_compiled
from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.scans.reference import no_steps
from lrnnlab.validation import among


def element_wise(s: Tensor, w: Tensor, c0: Tensor, *, form: str = "auto") -> Tensor:
    """c_1 ... c_T (B,T,D) of Eq. 17-19, from s (B,T,2,D), that is F x + b_f and Z x + b_z, w (2,D) and c0 (B,D)."""
    if is_compiled(form, s):
        return run_compiled("e_lstm.ElementWiseLoop", (s, w, c0))
    return _loop(s, w, c0)


def _loop(s: Tensor, w: Tensor, c: Tensor) -> Tensor:
    states = []
    for s_t in s.unbind(1):
        gate, new = (s_t + w * c.unsqueeze(1)).unbind(1)
        c = torch.lerp(torch.tanh(new), c, torch.sigmoid(gate))
        states.append(c)
    return torch.stack(states, 1) if states else no_steps(s[:, :, 0], w, c)


class ElementWiseLSTM(Recurrence):
    """One e-LSTM layer: inputs (B,T,E) -> h (B,T,D).

    They start as released: F, Z, w_f, w_z, b_f and b_z normal with deviation 0.1; O, W_o and b_o as torch's one linear
    map of [x; c] would, uniform up to (E + D)^-1/2.

    Parameters
    ----------
    width, inputs : int
        D; and E, D if not given.
    form : str
        As for :func:`element_wise`; may be changed on a finished layer.

    Examples
    --------
    >>> ElementWiseLSTM(5, inputs=3)(torch.zeros(2, 7, 3)).shape
    torch.Size([2, 7, 5])
    """

    def __init__(self, width: int, *, inputs: int | None = None, form: str = "auto"):
        super().__init__()
        inputs = width if inputs is None else inputs
        check_sizes(width=width, inputs=inputs)
        among("form", form, FORMS)
        self.form = form
        self.drive = nn.Linear(inputs, 2 * width)  # F and Z, with their biases
        self.w = nn.Parameter(torch.empty(2, width))
        self.O = nn.Linear(inputs, width)
        self.W_o = nn.Parameter(torch.empty(width, width))
        for values in (*self.drive.parameters(), self.w):
            nn.init.normal_(values, std=0.1)
        for values in (*self.O.parameters(), self.W_o):
            nn.init.uniform_(values, -((inputs + width) ** -0.5), (inputs + width) ** -0.5)

    def initial(self, batch: int) -> Tensor:
        return self.w.new_zeros(batch, self.w.shape[1])

    def _run(self, x: Tensor, c0: Tensor) -> tuple[Tensor, Tensor]:
        """x (B,T,E) -> c and h, both (B,T,D)."""
        c = element_wise(self.drive(x).unflatten(-1, self.w.shape), self.w, c0, form=self.form)
        return c, torch.sigmoid(self.O(x) + c @ self.W_o.mT) * c

    def mix(self, z: Tensor) -> Tensor:
        return self._run(z, self.initial(len(z)))[1]

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        c, h = self._run(z_t.unsqueeze(1), state)
        return c[:, 0], h[:, 0]
