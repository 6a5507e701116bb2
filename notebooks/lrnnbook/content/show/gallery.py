"""The pictures in ``figures/``: ``lrnnlab figures`` draws each again, from records or from a run of seconds."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from lrnnbook.content.show import atlas, frames, labels
from lrnnbook.content.show import dlr_figures as dlr
from lrnnbook.content.show import lrnn_figures as lrnn
from lrnnbook.content.show import regulargpt_figures as regulargpt
from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnbook.content.show.bench_figures import recorded, times_ours
from lrnnbook.content.show.film import COMMENT, film
from lrnnbook.content.show.fwp_figures import fwp_tables, negative_by_position
from lrnnbook.content.show.norm_figures import norm_through_training
from lrnnbook.content.show.output import save
from lrnnbook.content.tables import get, plan, records, results, train_run
from lrnnlab.automata import MooreMachine
from lrnnlab.models import snap
from lrnnlab.verification import verify
from lrnnlab.verification.heads import head_tables, heads_machine

FILM = "film"  # the one picture that moves


class Picture(NamedTuple):
    """How a committed picture is drawn: ``draw`` takes the desk runs of ``tables`` in one frame, if there are any."""

    draw: Callable[..., Figure]
    tables: tuple[str, ...]
    alt: str
    reads: Callable[[], Any] | None = None  # what ``draw`` reads itself, in place of records of tables

    def figure(self) -> Figure:
        """The picture; ``ValueError``, with the command that makes them, where a table has no records."""
        return self.draw(results.frame(self._records())) if self.tables else self.draw()

    def source(self) -> str:
        """A digest of the records that the picture is drawn from, which travels in its file; "" where it takes none."""
        read = self.reads() if self.reads else self._records() if self.tables else None
        return "" if read is None else hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:16]

    def _records(self) -> list[dict]:
        return [record for name in self.tables for record in _desk(name)]


def counter() -> MooreMachine:
    """The machine in the weights of a network trained on Sum(5) (``lrnn/table2``, row ``softmax``, seed 101), proved right."""
    run = plan("lrnn/table2", tasks=["sum"], rows=["softmax"], seeds=[101])[0]
    task, model = run.build_task(), snap(train_run(run).net)
    verdict = verify(model, task.specification)
    if not verdict.proved:
        raise RuntimeError(f"the network of seed {run.seed} should be provably right, but: {verdict}")
    return heads_machine(head_tables(model), verdict.heads, task.symbols)


@frames.picture
def comparison(found: pd.DataFrame, live: Mapping[tuple[str, str], Sequence[float]] = {}) -> Figure:
    """``lrnn/table2``: right answers at the training length (rings) and past it; the paper's numbers are not known.

    ``live`` is (task, row) -> shares past the training length of runs of today."""
    tasks, rows = ({name: labels.named(name) for name in names} for names in (get("lrnn/table2").tasks, get("lrnn/table2").rows))
    says = {"seen": "at the training length", "mean": "past it, over seeds", "live": "past it, live", "level": "majority"}
    return frames.shares(found, "accuracy_all", tasks, rows, says, size=(1.2 + 0.25 * len(rows), len(tasks)), x="right answers",
                         seen="accuracy_seen", level="levels.majority", live=live)  # fmt: skip


def speed(found: pd.DataFrame) -> Figure:
    """Recorded runs of ``lrnn/speed``, seed 0, beside the paper's ratios."""
    return lrnn.speed_ratios(results.ordered(frames.runs_of(found, seed=0)))


def _desk(name: str) -> list[dict]:
    found = records.recorded(name)
    if not found:
        raise ValueError(f"no records of {name}: run lrnnlab reproduce {name} --budget desk first")
    return found


PICTURES = {
    "found_automaton": Picture(lambda: state_diagram(counter()), (),
        "State diagram of the automaton found in the weights of a trained network."),
    "lrnn_table2": Picture(comparison, ("lrnn/table2",),
        "Accuracy at the training length and past it, by task and model, over seeds."),
    "lrnn_fig1": Picture(lambda: lrnn.scan_schedule(8), (),
        "The three levels of a parallel scan of length 8: the first applies A1, A3, A5, A7; the second A2, A3A2, A6, "
        "A7A6; the third A4, A5A4, A6A5A4, A7A6A5A4, each to the last state of the run before."),
    "lrnn_growth": Picture(lrnn.growth_by_rule, ("lrnn/growth",),
        "Norm of the state over 500 steps by column rule, for p = 1, 1.2 and 2: random signed blocks shrink it under "
        "every rule with a p; positive blocks make it overflow float32 at p = 1.2 under clip and unit; softmax keeps "
        "it."),
    "lrnn_speed": Picture(speed, ("lrnn/speed",),
        "Time over the sequential loop's: on one CPU thread the parallel scan is slower than the loop in every "
        "setting, and the compiled scan by token makes the whole model fastest; on the paper's GPU the parallel scan "
        "was as fast or faster."),
    "lrnn_fading": Picture(lrnn.fading, ("lrnn/fading",),
        "How far strings have gone to a wrong answer, by position, for release, clip, softmax and LSTM, three seeds "
        "each: it rises for release and clip only. Below, horizons: where float32 overflows first, one release seed and "
        "two of clip, what is predicted from 10 to 200 is what is seen; where nets fade, two of release and one of clip, "
        "predictions are far off; softmax and LSTM hold beyond 2,000, as predicted."),
    "scan_bench": Picture(lambda: times_ours(recorded()), (),
        "Forward and backward time of other scans over that of our compiled loop, case by case, one panel for "
        "each number of threads, on a logarithmic axis; what was not run, because it would take too long or too much "
        "memory, is hollow.", recorded),
    "rotrnn_fig3": Picture(lambda found: norm_through_training(found, "layers4"), ("rotrnn/fig3",),
        "Mean norm of the state in each of four layers through 400 steps of training, in four panels: RotRNN with 8 "
        "heads, RotRNN with 32, LRU with a learned and with a recomputed normaliser. In every panel the layers fan "
        "out."),
    "dlr_table1": Picture(dlr.r2_by_task, ("dlr/table1",),
        "R2 on the eleven atomic tasks by mixer and number of layers, as numbers on a ground that is darker the more "
        "of what is above the level without skill is had: recorded runs at L = 64, 128 and 512 above, the paper's tables "
        "1 and 6 below. One layer of DLR has Shift, CumSum, SelectFixed (not at 512) and SolveFixed; at 64 six layers have "
        "Reverse, CumMax and Solve too; attention has MIPS and Select; nobody has Sort above its level, or ContextShift."),
    "dlr_table2": Picture(dlr.shift_by_length, ("dlr/table2",),
        "R2 on Shift against the length for seven models, recorded runs on the left, the paper's numbers, of 128 "
        "times the length and the modes, on the right. In both DLR goes down the pale steps that its reach predicts "
        "and DLR-prod stays above. A dashed line at 0.222 is the score of copying the input: DLR-R gets no further."),
    "dlr_fig1": Picture(lambda: dlr.pictures_and_classes(128, 4), (),
        "Four pictures of dashed paths with circles and, below each, which pixels are on a main path, and on one with a "
        "circle at both ends."),
    "dlr_fig2": Picture(lambda found: dlr.errors_by_node(found, "listops-128"), ("dlr/table3",),
        "Wrong answers at the brackets of nested lists by height of the node and by operator, for DLR and local attention, "
        "beside the error of the commonest answer there."),
    "dlr_fig3": Picture(lambda found: dlr.pictures_and_answers(found, "segmentation-32"), ("dlr/table3",),
        "Test pictures of dashed paths, the right class of every pixel, and the classes that trained nets gave."),
    "dlr_table5": Picture(dlr.loss_by_step, ("dlr/table5",),
        "Loss by step of DLR and the Transformer as models of characters, post-norm on the left, pre-norm on the right. In "
        "both panels all curves pass the levels of counting single characters, pairs and triples."),
    "dlr_table5_rates": Picture(dlr.loss_by_rate, ("dlr/table5",),
        "Test loss after a short run by learning rate, for 4 layers and for 16: post-norm nets end at the level of single "
        "characters at the larger rates, pre-norm nets do not."),
    "lra_levels": Picture(dlr.levels_beside_nets, ("lra/levels", "rotrnn/table1", "dlr/table4"),
        "Right answers by task: predictors without memory as diamonds, our nets as blue dots. On Text and Retrieval the best "
        "diamond is level with the best net, on Image a few points behind it; on ListOps every net is ahead."),
    "fwp_tables": Picture(fwp_tables, ("fwp/table1", "fwp/table2"),
        "Whole strings right by task and model, eight panels, grey diamonds the paper's, blue dots recorded runs over"
        " seeds. On parity, (aa)* and (abab)* Transformer, linear and DeltaNet are at 0; where brackets or letters "
        "are counted, some of the recorded runs stay behind the paper's."),
    "fwp_negative": Picture(negative_by_position, ("fwp/negative",),
        "Right answers by position up to 400 for four kinds of delta rule, panels for parity, (aa)*, Sum(5) and S_3. "
        "With beta below 1 all stay at the level of a constant answer; with beta up to 2 one write learns parity and "
        "(aa)*, and two writes learn all four, of which the second fade far beyond the trained length, (aa)* to the level "
        "of a constant answer."),
    "regulargpt_table1": Picture(regulargpt.accuracy_by_task, ("regulargpt/table1",),
        "Right answers beyond the trained lengths, thirteen tasks, four panels: RNN, Transformer, RegularGPT with C ="
        " 2 and C = 3. Grey diamonds are the paper's, blue dots single recorded runs; a stroke marks the majority "
        "level."),
    "regulargpt_table2": Picture(regulargpt.accuracy_by_p, ("regulargpt/table2",),
        "Parity with ones of probability 0.1 to 0.9, at length 40 and beyond, in panels for RegularGPT, RNN and "
        "Transformer: the paper's means in grey, single recorded runs in blue, a dashed line at one half."),
    "regulargpt_fig3": Picture(regulargpt.clusters_of_tasks, ("regulargpt/fig3",),
        "Above, states of RegularGPT at all depths on a plane, coloured by what the word below them does: separate "
        "groups for Parity, Cycle Navigation and the permutations of three things. Below, clusters found by depth, "
        "which are as many as the algebra predicts: 2; 5; and 4, then 6; but for one net for Parity, which has 3."),
    "regulargpt_fig4": Picture(regulargpt.gradients, ("regulargpt/fig4",),
        "Share of the gradient from each position to the end of a string of 500, for RegularGPT, Transformer, RNN and"
        " LRNN on Parity, Even Pairs and a task of the last four bits. On Parity and Even Pairs RegularGPT comes "
        "nearest to a straight line; the RNN, right as often, has most of its gradient in the last few positions."),
    "regulargpt_table3": Picture(regulargpt.perplexity_by_length, ("regulargpt/table3",),
        "Perplexity over that at the trained length, by length: on the left a step up behind C squared for "
        "RegularGPT, which is gone where the depth of training is kept; on the right the paper's models, of which "
        "RegularGPT with C = 32 and 64 rises by a factor of 25 and more."),
    "atlas": Picture(atlas.poster, (),
        "All 216 machines of three states and two letters as small diagrams, in five colours: 23 are kept for ever by one layer of "
        "gates in [0, 1], 16 by two such layers, 122 need signs, 19 turns or two reflections a token in one layer, and 36 in "
        "two.", atlas.verdicts),
}  # fmt: skip


def draw(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Draw the pictures called ``names`` (all if absent) into ``folder``; ValueError before the first for a name there is not,
    and for a file of such a name that we did not draw."""
    every = [*PICTURES, FILM]
    unknown = [name for name in names or () if name not in every]
    if unknown:
        raise ValueError(f"no picture {unknown[0]!r}; there are {', '.join(every)}")
    paths = {name: folder / f"{name}.{'gif' if name == FILM else 'png'}" for name in names or every}
    for path in paths.values():
        if path.exists() and not drawn_here(path):
            raise ValueError(f"{path} was not drawn by lrnnlab: choose another --folder, or move it away")
    records.check_writable(paths.values())
    asked = {path: PICTURES[name] for name, path in paths.items() if name != FILM}
    made = [save(picture.figure(), path, picture.alt, Records=picture.source()) for path, picture in asked.items()]
    if FILM in paths:
        counter()  # or its last frame would not be true
        made.append(film(paths[FILM]))
    return made


def drawn_here(path: Path) -> bool:
    """Tell whether a file is a picture that :func:`draw` wrote: it has the digest of its records in it."""
    try:
        with Image.open(path) as picture:
            return "Records" in getattr(picture, "text", {}) or picture.info.get("comment") == COMMENT
    except OSError:
        return False
