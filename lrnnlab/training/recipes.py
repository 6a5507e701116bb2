"""What a training run is told: its phases and what they share.  Plain data, so that a record can hold it."""

from __future__ import annotations

from dataclasses import dataclass

from lrnnlab.validation import among, checked, number, whole_number


@checked
@dataclass(frozen=True)
class Phase:
    """A stretch of training.

    A number that trains nothing, or the wrong way (negative, NaN, infinite), is a ``ValueError`` or ``TypeError``.

    Parameters
    ----------
    steps : int
        How many.
    lr : float
        The learning rate, constant unless ``final_lr`` is given.
    final_lr : float, optional
        Where a cosine from ``lr`` ends.
    warmup : int
        Steps of a linear rise of the learning rate.
    weight_decay : float
        Decoupled, on matrices only.
    loss : str
        ``"cross_entropy"``, or ``"squared"``: logits regress on the one-hot of the answer.
    smoothing : float
        Of the labels; for cross-entropy.
    noise : float
        Standard deviation of Gaussian noise on the last layer's states, growing linearly from 0.
    purity : float
        Weight, growing linearly from 0, of the mean of sum_j x_j (1 - sum_i A_ij^2): how far the columns that are in
        use are from one-hot.
    until : float, optional
        End sooner, once the running mean of this phase's losses is below this.
    prune : float, optional
        When the phase ends, freeze every head that training can do without: as long as the loss on a fresh batch stays
        under this, or under twice what it was (see :mod:`lrnnlab.training.restarts`).
    length : int, optional
        Of the training strings of this phase; the recipe's if absent.  Phases of growing lengths, each ``until`` it is
        known, are a curriculum.
    """

    steps: int
    lr: float
    final_lr: float | None = None
    warmup: int = 0
    weight_decay: float = 0.0
    loss: str = "cross_entropy"
    smoothing: float = 0.0
    noise: float = 0.0
    purity: float = 0.0
    until: float | None = None
    prune: float | None = None
    length: int | None = None

    def __post_init__(self):
        whole_number(self.steps, 1, "steps, of a phase,")
        whole_number(self.warmup, 0, "warmup")
        for name in ("lr", "final_lr", "weight_decay", "noise", "purity", "until", "prune"):
            if getattr(self, name) is not None:
                number(getattr(self, name), name, 0, inside=name == "until")
        number(self.smoothing, "smoothing", 0, 1)
        if self.length is not None:
            whole_number(self.length, 1, "length")
        among("loss", self.loss, ("cross_entropy", "squared"))


@checked
@dataclass(frozen=True)
class Mend:
    """What to do with strings that the finished model gets wrong: learn them, ``rounds`` times at most.

    Half of each batch of ``phase`` then begins with such strings.
    """

    phase: Phase
    rounds: int

    def __post_init__(self):
        whole_number(self.rounds, 0, "rounds")


@checked
@dataclass(frozen=True)
class Recipe:
    """How to train: the phases, one after the other, and what they share.

    Parameters
    ----------
    phases : tuple of Phase
        One after the other.
    batch_size : int
        Strings a step.
    optimiser : str
        ``"adamw"`` or ``"adam"`` (weight decay as an L2 term on every parameter, as torch's Adam has it).
    betas : (float, float)
        The optimiser's.
    clip : float, optional
        A gradient whose norm is greater is scaled down to it.
    average : float
        Decay of an exponential moving average of the weights, which then is the model; 0 for none.
    attempts : int
        How often to start (again, from fresh weights) until ``accept`` agrees and every ``until`` is reached.
    length : int, optional
        Of the training strings; the task's own if absent.
    mend : Mend, optional
        Learn the strings that ``accept`` names, before starting again.
    """

    phases: tuple[Phase, ...]
    batch_size: int = 128
    optimiser: str = "adamw"
    betas: tuple[float, float] = (0.9, 0.999)
    clip: float | None = None
    average: float = 0.0
    attempts: int = 1
    length: int | None = None
    mend: Mend | None = None

    def __post_init__(self):
        if not self.phases:
            raise ValueError(f"a recipe needs at least one phase, got phases={self.phases}")
        among("optimiser", self.optimiser, ("adam", "adamw"))
        if self.average and any(phase.prune is not None for phase in self.phases):
            raise ValueError(f"averaged weights cannot be pruned, got average={self.average}")
        whole_number(self.batch_size, 1, "batch_size")
        whole_number(self.attempts, 1, "attempts")
        if self.length is not None:
            whole_number(self.length, 1, "length")
        if self.clip is not None:
            number(self.clip, "clip", 0, inside=True)
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas are at least 0 and below 1, got {self.betas}")
        if not 0 <= self.average < 1:
            raise ValueError(f"average is at least 0 and below 1, got {self.average}")

    @property
    def steps(self) -> int:
        return sum(phase.steps for phase in self.phases)
