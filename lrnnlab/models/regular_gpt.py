"""RegularGPT (paper 002: Chi, Fan, Rudnicky, Ramadge 2023): a Transformer whose depth grows with the string.

One layer (or K of them, the "thickness") is used again at every depth l = 0, 1, ...; there, position m attends to
m - j c^l, j = 0 .. c-1, and ceil(log_c T) depths see the whole string.  Two forms of the same weights:

    tree    the released code: from depth to depth only the last position of every chunk of c is kept, the string is
            filled up from the left with a learned vector; one answer, at the last position
    masks   the text (Sec. 3.1, Eq. 1): every position at every depth, through a dilated mask, keys before the start
            masked; an answer at every position

In training each of the few different chunks of the lowest depths is computed once (``by_table``).

With the same padding both give the last position the same numbers.  In the form of masks the answer at position m looks
at nothing behind m, but takes as many depths as the whole string needs; what the tree says of the prefix that ends at m
stands in ``hidden`` at the depth where that prefix would be done (for ``padding="masked"``).

Letters: B batch, T time, V vocabulary, C classes, D width, h heads, d size of a head, c chunk (the paper's C), K
thickness, l depth, s residue classes of positions modulo c^l, S positions of one of them; r_j bias of distance j.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.attention import merge_heads
from lrnnlab.models.base import Module, check_sizes, check_strings, layers_of
from lrnnlab.models.chunk_masks import chunk_attention, depth_count, window_attention
from lrnnlab.models.transformer import Symbols, TransformerLayer, final_norm, linear
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, checked, whole_number

PADDING = {"tree": "learned", "masks": "masked"}  # as the code does, as the text says


class WindowLayer(TransformerLayer):
    """One layer: h (B,s,S,D), present (s,S) -> (B,s,S,D); a position sees itself and the c - 1 before it in its class.

    ``r`` (h,c), normal with deviation 0.02 at the start, is added to the scores, not scaled.
    """

    def __init__(self, width: int, heads: int, chunk: int, block: str):
        super().__init__(width, heads, block)
        self.r = nn.Parameter(0.02 * torch.randn(heads, chunk))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, present: Tensor) -> Tensor:
        return window_attention(q, k, v, self.r, present)

    def at_chunk_ends(self, h: Tensor, present: Tensor) -> Tensor:
        """The same at every c-th position only, (B,s,S/c,D); S is a multiple of c."""
        ends, z = slice(self.r.shape[1] - 1, None, self.r.shape[1]), self.block.before(h)
        o = chunk_attention(*self.project(z[..., ends, :], z), self.r, present)
        return self.block.after(h[..., ends, :], self.O(merge_heads(o)))


@checked
class RegularGPT(Module):
    """``model(tokens (B,T))`` -> logits (B,C) at the last position (``form="tree"``) or (B,T,C) (``form="masks"``).

    Parameters
    ----------
    vocab_size, classes, width, chunk, heads : int
        V, C and D; c, at least 2; and h, a divisor of D.
    thickness : int
        K layers per depth.  In the tree they slide over all positions of a depth before it is thinned out.
    form : str
        ``"tree"`` or ``"masks"``; may be changed on a finished model.
    padding : str, optional
        What stands before the first symbol where a chunk is not full.  ``"learned"``: one learned vector, raw again at
        every depth; ``"masked"``: nothing.  If not given, that of the form: learned in the tree, masked with masks.
        Learned padding in the form of masks fills every class to a multiple of c: slow where c^2 is above T.
    block : str
        ``"post_norm"``, as released, or ``"gpt2"``, as in the text.

    Examples
    --------
    >>> model = RegularGPT(2, 2, width=16, heads=4)
    >>> tokens = torch.randint(2, (3, 11))
    >>> model(tokens).shape, [tuple(h.shape) for h in model.hidden(tokens)]
    (torch.Size([3, 2]), [(3, 6, 16), (3, 3, 16), (3, 2, 16), (3, 1, 16)])
    >>> model.form = "masks"
    >>> model(tokens).shape
    torch.Size([3, 11, 2])
    """

    layers: Any

    def __init__(
        self,
        vocab_size: int,
        classes: int,
        *,
        chunk: int = 2,
        width: int = 64,
        heads: int = 8,
        thickness: int = 1,
        form: str = "tree",
        padding: str | None = None,
        block: str = "post_norm",
    ):
        super().__init__()
        whole_number(chunk, 2, "chunk")
        self.form = form
        padding = PADDING[form] if padding is None else padding
        among("padding", padding, PADDING.values())
        check_sizes(classes=classes)
        self.chunk, self.padding = chunk, padding
        self.embedding = Symbols(vocab_size, width)
        self.pad = nn.Parameter(0.02 * torch.randn(width))
        self.layers = nn.ModuleList(layers_of(thickness, lambda _: WindowLayer(width, heads, chunk, block)))
        self.norm = final_norm(block, width)
        self.head = linear(width, classes)

    @property
    def form(self) -> str:
        """``"tree"`` or ``"masks"``: how the weights run."""
        return self._form

    @form.setter
    def form(self, form: str) -> None:
        among("form", form, PADDING)
        self._form = form

    def forward(self, tokens: Tensor) -> Tensor:
        # A hook on the embedding wants to see every position, not every symbol.
        tables = self.padding == PADDING[self.form] and self.training and not self.embedding._forward_hooks
        tables = tables and not within_func()  # how many different chunks there are depends on the tokens
        logits = self.head(self.norm(self.by_table(tokens) if tables else self.hidden(tokens)[-1]))
        return logits.squeeze(1) if self.form == "tree" else logits

    def hidden(self, tokens: Tensor) -> list[Tensor]:
        """What comes out of every depth, o^(l) of Sec. 3.1 and Fig. 3: (B,T,D) each, in the tree (B,ceil(T/c^(l+1)),D).

        The tree's are those at :func:`lrnnlab.models.chunk_masks.kept_positions`.  They are the outputs of the whole
        block, behind its last norm, as in the released plots.
        """
        h, outputs = self.embedding(tokens), []
        for depth in range(depth_count(tokens.shape[1], self.chunk)):
            h = self._shrink(h) if self.form == "tree" else self._dilate(h, self.chunk**depth)
            outputs.append(h)
        return outputs

    def by_table(self, tokens: Tensor) -> Tensor:
        """The last of ``hidden``, where padding is that of the form; the same numbers, but for their rounding.

        At a depth the different chunks of the batch are computed once each and looked up, until more than half of them
        differ, or their numbers take more than 63 bits.  Of 64 strings of 40 symbols, Modular Arithmetic has in the tree
        15 different ones among 1280 at depth 0 (half of all work) and at most 225 among 640 at depth 1.
        """
        check_strings(tokens, self.embedding.vocab_size, self.embedding.weight)
        depths, done = depth_count(tokens.shape[1], self.chunk), 0
        codes, table = tokens, self.embedding.weight[:-1] * self.embedding.weight.shape[1] ** 0.5  # (B,S), (N,D)
        while (done < depths and len(self.layers) == 1
               and (len(table) + 1) ** self.chunk <= 1 << 63):  # every chunk has a number of its own  # fmt: skip
            places = (len(table) + 1) ** torch.arange(self.chunk, device=tokens.device)
            numbers = (self._chunks(codes, len(table), self.chunk**done) * places).sum(-1)
            numbers, found = numbers.unique(return_inverse=True)  # (N'), and where they are, (B,S/c) or (B,S)
            if 2 * len(numbers) > found.numel():
                break
            chunks = numbers.unsqueeze(1) // places % (len(table) + 1)  # (N',c)
            seen = (chunks < len(table)) | (self.padding == "learned")
            h = torch.cat([table, self.pad.unsqueeze(0)])[chunks].unsqueeze(0)  # (1,N',c,D)
            table = self.layers[0].at_chunk_ends(h, seen).flatten(0, 2)  # (N',D)
            codes = found
            done += 1
        h = F.embedding(codes, torch.cat([table, self.pad.unsqueeze(0)]))
        for depth in range(done, depths):
            h = self._shrink(h) if self.form == "tree" else self._dilate(h, self.chunk**depth)
        return h

    def _chunks(self, codes: Tensor, absent: int, step: int) -> Tensor:
        """The c symbols that each position sees, itself last, ``absent`` before the start; (B,S) -> (B,S,c), tree (B,S/c,c)."""
        if self.form == "tree":
            return F.pad(codes, (-codes.shape[1] % self.chunk, 0), value=absent).unflatten(1, (-1, self.chunk))
        before = F.pad(codes, (step * (self.chunk - 1), 0), value=absent)
        return torch.stack([before[:, step * k :][:, : codes.shape[1]] for k in range(self.chunk)], -1)

    def _shrink(self, h: Tensor) -> Tensor:
        """One depth of the tree: (B,S,D) -> (B,ceil(S/c),D)."""
        h, present = self._fill(h, self.chunk)
        h, present = h.unsqueeze(1), present.unsqueeze(0)  # one class
        *before, last = self.layers
        for layer in before:
            h = layer(h, present)
        return last.at_chunk_ends(h, present).squeeze(1)

    def _dilate(self, h: Tensor, step: int) -> Tensor:
        """One depth at every position: (B,T,D) -> (B,T,D); step is c^l."""
        T = h.shape[1]
        h, present = self._fill(h, step * self.chunk if self.padding == "learned" else step)
        h = h.unflatten(1, (-1, step)).transpose(1, 2)  # (B,s,S,D): every step-th position in one row
        present = present.unflatten(0, (-1, step)).T  # (s,S)
        for layer in self.layers:
            h = layer(h, present)
        return h.transpose(1, 2).flatten(1, 2)[:, -T:]

    def _fill(self, h: Tensor, multiple: int) -> tuple[Tensor, Tensor]:
        """h (B,T,D) behind pad vectors, so that ``multiple`` divides its length; and which positions are to be seen."""
        B, T, D = h.shape
        missing = -T % multiple
        positions = torch.arange(missing + T, device=h.device)
        present = positions >= (missing if self.padding == "masked" else 0)
        return torch.cat([self.pad.expand(B, missing, D), h], 1), present
