"""Questions to the model: what a tiling moves, what no tiling can beat, and why it takes as long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._report import (
    ArrayReport,
    Report,
    Table,
    bar_chart,
    digits,
    extents,
    from_dict,
    readable_bytes,
    short,
)
from ._tables import Schedule

Array = npt.NDArray[np.float64]

_TYPES = {
    "float64": "f64",
    "float32": "f32",
    "bfloat16": "bf16",
    "float16": "f16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}


def _type_name(dtype: Any) -> str:
    text = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    if text in _TYPES.values():
        return text
    if text not in _TYPES:
        text = np.dtype(dtype).name
    return _TYPES.get(text, text)


def _schedule_text(schedule: str | Schedule | None) -> str | None:
    return schedule.to_json() if isinstance(schedule, Schedule) else schedule


def _tile_texts(tiles: Sequence[str | int] | str | int | None) -> list[str] | None:
    if tiles is None:
        return None
    return [str(t) for t in ([tiles] if isinstance(tiles, str | int) else tiles)]


@dataclass(frozen=True)
class TrafficRow:
    """One count: which memory level, whose elements, which of the four quantities."""

    level: str
    operand: str
    direction: str
    quantity: str
    unit: str
    counted: int


@dataclass(frozen=True)
class LevelCount:
    """Reads of A and B that enter one level of the tiling; reuse: multiply-adds an element read;
    intensity: FLOP a byte."""

    level: str
    reads_from: str
    m: int
    n: int
    k: int
    reads_a: int
    reads_b: int
    reads: int
    reuse_a: float
    reuse_b: float
    intensity: float


@dataclass(frozen=True)
class CountReport(Report):
    """Reads of elements in closed form: naive 2MNK, tiled (the outermost level), minimum MK + KN."""

    m: int
    n: int
    k: int
    batch: int
    element_bytes: int
    schedule: str
    naive: int
    tiled: int
    minimum: int
    flops: int
    phases: int
    blocks: int
    levels: tuple[LevelCount, ...]
    rows: tuple[TrafficRow, ...]

    def heading(self) -> str:
        return (
            f"C[{self.m},{self.n}] = A[{self.m},{self.k}] B[{self.k},{self.n}], "
            f"{self.element_bytes} bytes an element"
        )

    def tables(self) -> list[Table]:
        totals = [
            (name, digits(value), readable_bytes(value * self.element_bytes))
            for name, value in (
                ("naive", self.naive),
                ("tiled", self.tiled),
                ("minimum", self.minimum),
            )
        ]
        levels = [
            (
                level.level,
                extents(level.m, level.n, level.k),
                level.reads_from,
                digits(level.reads_a),
                digits(level.reads_b),
                short(level.reuse_a),
                short(level.reuse_b),
                short(level.intensity),
            )
            for level in self.levels
        ]
        return [
            Table(("reads", "elements", "bytes"), totals, left=("reads",)),
            Table(
                (
                    "level",
                    "tile",
                    "reads from",
                    "reads of A",
                    "reads of B",
                    "reuse A",
                    "reuse B",
                    "FLOP/byte",
                ),
                levels,
                left=("level", "tile", "reads from"),
            ),
        ]

    def picture(self) -> str:
        bars = [("naive", float(self.naive))]
        bars += [(level.level, float(level.reads)) for level in self.levels]
        return bar_chart("Elements of A and B read", [*bars, ("minimum", float(self.minimum))])


def count(
    m: int,
    n: int,
    k: int,
    schedule: str | Schedule | None = None,
    *,
    tiles: Sequence[str | int] | str | int | None = None,
    dtype: Any = "float32",
    batch: int = 1,
    epilogue: str | None = None,
) -> CountReport:
    """Exact element reads of every level of a tiling of an (m, k) by (k, n) product.

    schedule: a name of `schedules()` or a Schedule; tiles: from the outside in, like "128",
    "block:128x128x8", "thread:8x8" (bare numbers: the block, then the thread). By default naive.
    Formula: reads(level) = MK tiles(N) + KN tiles(M), every level clipped at the edge of the one
    outside it (docs/counting.md). Cost: independent of the sizes.

    Raises ValueError (sizes, tiles, names), OverflowError (a count beyond 2^127 - 1).

    >>> report = count(1000, 1000, 1000, tiles=["128", "8"])
    >>> report.naive, report.tiled, report.minimum
    (2000000000, 16000000, 2000000)
    """
    values = _core.count(
        m,
        n,
        k,
        _schedule_text(schedule),
        _tile_texts(tiles),
        _type_name(dtype),
        batch,
        epilogue,
    )
    return from_dict(
        CountReport,
        values,
        levels=tuple(LevelCount(**level) for level in values["levels"]),
        rows=tuple(TrafficRow(**row) for row in values["rows"]),
    )


@dataclass(frozen=True)
class SimulatedLevel:
    """Reads counted one by one at one level."""

    level: str
    reads_a: int
    reads_b: int


@dataclass(frozen=True, eq=False)
class SimulationReport(ArrayReport):
    """What the tiled loops read when executed, and what they computed (d, float64)."""

    d: Array
    schedule: str
    global_reads: int
    shared_reads: int
    writes: int
    multiply_adds: int
    phases: int
    blocks: int
    equals_count: bool
    levels: tuple[SimulatedLevel, ...]
    rows: tuple[TrafficRow, ...]

    def tables(self) -> list[Table]:
        rows = [
            ("global reads", digits(self.global_reads)),
            ("shared reads", digits(self.shared_reads)),
            ("multiply-adds", digits(self.multiply_adds)),
            ("writes", digits(self.writes)),
            ("blocks", digits(self.blocks)),
            ("phases of a block", digits(self.phases)),
            ("closed form", "the same" if self.equals_count else "DIFFERENT"),
        ]
        return [Table(("counted one by one", "value"), rows, left=("counted one by one",))]

    def picture(self) -> str:
        return bar_chart(
            "Reads counted", [(s.level, float(s.reads_a + s.reads_b)) for s in self.levels]
        )


def real_array(value: Any, name: str) -> Array:
    """A float64 array; TypeError for complex numbers."""
    array = np.asarray(value)
    if np.iscomplexobj(array):
        raise TypeError(f"{name} is {array.dtype}; real numbers are multiplied")
    return array.astype(np.float64, copy=False)


def _matrix(value: Any, name: str) -> Array:
    array = real_array(value, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must have 2")
    return np.ascontiguousarray(array)


def _checked_operands(a: Array, b: Array, epilogue: str | None, operands: Any) -> dict[str, Array]:
    """The epilogue's operands in float64; refuses what matmul refuses, in its words."""
    if isinstance(operands, Mapping):
        operands = {k: real_array(v, f"simulate: operand {k}") for k, v in operands.items()}
    try:
        _core.check_matmul(a, b, epilogue=epilogue, operands=operands)
    except (ValueError, TypeError) as error:
        raise type(error)(str(error).replace("matmul:", "simulate:", 1)) from None
    return {name: np.ascontiguousarray(value) for name, value in (operands or {}).items()}


def simulate(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    schedule: str | Schedule | None = None,
    *,
    tiles: Sequence[str | int] | str | int | None = None,
    epilogue: str | None = None,
    operands: Mapping[str, npt.ArrayLike] | None = None,
) -> SimulationReport:
    """Executes a tiling of a (m, k) by b (k, n) element by element, with a counter on every read.

    Sums run in float32, in float64 where a or b is float64. The counts equal `count`'s. By default
    schedule "shared_tile". Cost: the number of reads, 2^40 at most. operands: as `matmul` takes
    them, of a product without a batch. Raises ValueError (shapes, names, tiles), TypeError.

    >>> import numpy as np
    >>> report = simulate(np.ones((10, 6)), np.ones((6, 7)), tiles="4")
    >>> report.global_reads, report.equals_count
    (246, True)
    """
    is_f64 = np.float64 in (np.asarray(a).dtype, np.asarray(b).dtype)
    x, y = _matrix(a, "simulate: a"), _matrix(b, "simulate: b")
    given = _checked_operands(x, y, epilogue, operands)
    values = _core.simulate(
        x,
        y,
        given.pop("c", None),
        given,
        _schedule_text(schedule),
        _tile_texts(tiles),
        "f64" if is_f64 else "f32",
        epilogue,
    )
    return from_dict(
        SimulationReport,
        values,
        levels=tuple(SimulatedLevel(**level) for level in values["levels"]),
        rows=tuple(TrafficRow(**row) for row in values["rows"]),
    )


@dataclass(frozen=True, eq=False)
class BarrierReport(ArrayReport):
    """What a shared-tile kernel computes without one of its two barriers (d), and should."""

    without_barrier: int
    wrong_elements: int
    max_error: float
    first_fault: str
    d: Array
    expected: Array

    def tables(self) -> list[Table]:
        rows = [
            ("without barrier", str(self.without_barrier)),
            ("wrong elements", f"{self.wrong_elements} of {self.d.size}"),
            ("largest error", short(self.max_error)),
            ("first fault", self.first_fault or "none"),
        ]
        return [Table(("what", "value"), rows, left=("what", "value"))]


def simulate_barriers(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    without_barrier: int,
    schedule: str | Schedule | None = None,
    *,
    tiles: Sequence[str | int] | str | int | None = None,
) -> BarrierReport:
    """A shared-tile kernel with barrier 1 (after the load) or 2 (after the use) left out; 0: none.

    >>> import numpy as np
    >>> ones = np.ones((64, 64))
    >>> simulate_barriers(ones, ones, 0, tiles="16").wrong_elements
    0
    """
    values = _core.simulate_barriers(
        _matrix(a, "simulate_barriers: a"),
        _matrix(b, "simulate_barriers: b"),
        _schedule_text(schedule),
        _tile_texts(tiles),
        without_barrier,
    )
    return from_dict(BarrierReport, values)


@dataclass(frozen=True)
class Bound:
    """One published lower bound, evaluated, in elements."""

    name: str
    formula: str
    elements: float
    is_floor: bool
    counts: str
    source: str
    note: str


@dataclass(frozen=True)
class SegmentArgument:
    """The argument behind a bound, in numbers: at least `segments` of so many transfers."""

    name: str
    transfers: float
    elements: float
    products: float
    segments: float
    at_least: float


@dataclass(frozen=True)
class ResidentSchedule:
    """The best schedule that keeps a tile of one operand in fast memory: exact counts."""

    resident: str
    rows: int
    columns: int
    reads_a: int
    reads_b: int
    reads_c: int
    writes_c: int
    moved: int
    memory: int


@dataclass(frozen=True)
class BoundReport(Report):
    """What no schedule can beat with a fast memory of `fast_memory` elements, and what comes close."""

    m: int
    n: int
    k: int
    fast_memory: int
    memories: int
    output: str
    counted: str
    compared: bool
    compulsory: int
    floor: float
    bounds: tuple[Bound, ...]
    segments: tuple[SegmentArgument, ...]
    schedules: tuple[ResidentSchedule, ...]

    def heading(self) -> str:
        return (
            f"{self.m} x {self.n} x {self.k}, {digits(self.fast_memory)} elements of fast memory, "
            f"{self.counted}, C {self.output}: no schedule moves fewer than {self.floor:,.0f} "
            "elements"
        )

    def tables(self) -> list[Table]:
        bounds = [
            (b.name, f"{b.elements:,.0f}", "yes" if b.is_floor else "no", b.formula, b.source)
            for b in self.bounds
        ]
        schedules = [
            (
                s.resident,
                f"{s.rows}x{s.columns}",
                digits(s.moved),
                short(s.moved / self.floor) if self.floor else "",
            )
            for s in self.schedules
        ]
        return [
            Table(
                ("bound", "elements", "floor", "formula", "source"),
                bounds,
                left=("bound", "formula", "source"),
            ),
            Table(("resident", "tile", "moves", "of the floor"), schedules, left=("resident",)),
        ]

    def picture(self) -> str:
        bars = [("floor", self.floor)]
        bars += [(f"{s.resident} resident", float(s.moved)) for s in self.schedules]
        return bar_chart("Elements moved", bars)


def bound(
    m: int,
    n: int,
    k: int,
    fast_memory: int,
    *,
    memories: int = 1,
    beta: int = 0,
    counted: str = "reads+writes",
) -> BoundReport:
    """Lower bounds on the traffic between a fast memory of `fast_memory` elements and a slow one.

    memories: so many private ones, summed. beta 1: C is read too. counted: "reads" or
    "reads+writes". Sources: Hong and Kung 1981; Irony, Toledo, Tiskin 2004; Smith, Lowery, Langou,
    van de Geijn 2019 (docs/bounds.md).

    >>> bound(1024, 1024, 1024, 1024).floor
    67106816.0
    """
    if beta not in (0, 1):
        raise ValueError(f"bound: beta is {beta}; valid are 0 (C = AB) and 1 (C += AB)")
    if counted not in ("reads", "reads+writes"):
        raise ValueError(f'bound: counted is "{counted}"; valid are reads and reads+writes')
    values = _core.bound(m, n, k, fast_memory, memories, beta == 1, counted == "reads")
    return from_dict(
        BoundReport,
        values,
        bounds=tuple(Bound(**b) for b in values["bounds"]),
        segments=tuple(SegmentArgument(**s) for s in values["segments"]),
        schedules=tuple(ResidentSchedule(**s) for s in values["schedules"]),
    )


@dataclass(frozen=True)
class MmaReport(Report):
    """Tensor-core instructions of a product, each dimension padded up to theirs."""

    m: int
    n: int
    k: int
    shape: str
    padded_m: int
    padded_n: int
    padded_k: int
    instructions: int
    utilization: float

    def tables(self) -> list[Table]:
        rows = [
            ("instructions", digits(self.instructions)),
            ("utilization", f"{self.utilization:.4f}"),
            ("padded", f"{self.padded_m} x {self.padded_n} x {self.padded_k}"),
        ]
        title = f"{self.m} x {self.n} x {self.k} in {self.shape}"
        return [Table(("what", "value"), rows, left=("what",), title=title)]


def mma(m: int, n: int, k: int, shape: str = "16x8x16") -> MmaReport:
    """How many tensor-core instructions of `shape` (m x n x k) a product takes.

    utilization = MNK / (instructions m n k). Raises ValueError (sizes, shape), OverflowError.

    >>> mma(17, 8, 16).instructions
    2
    """
    return MmaReport(**_core.mma(m, n, k, shape))


@dataclass(frozen=True)
class Fragment:
    """holders: (rows, columns) row-major, each (thread, element of that thread)."""

    operand: str
    rows: int
    columns: int
    threads: int
    elements_per_thread: int
    holders: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class MmaLayout(Report):
    """Which thread holds which element of an instruction's operands (source: the PTX ISA)."""

    shape: str
    title: str
    fragments: tuple[Fragment, ...]

    def heading(self) -> str:
        return self.title

    def tables(self) -> list[Table]:
        tables = []
        for f in self.fragments:
            cells = [f"T{thread}:{element}" for thread, element in f.holders]
            rows = [
                [str(row), *cells[row * f.columns : (row + 1) * f.columns]]
                for row in range(f.rows)
            ]
            tables.append(Table(["", *map(str, range(f.columns))], rows, title=f.operand))
        return tables


def mma_layout(shape: str = "16x8x16") -> MmaLayout:
    """Which thread of the warp (of the warpgroup, for wgmma) holds which element.

    >>> mma_layout("m16n8k16").fragments[0].holders[:3]
    ((0, 0), (0, 1), (1, 0))
    """
    values = _core.mma_layout(shape)
    return from_dict(
        MmaLayout,
        values,
        fragments=tuple(
            from_dict(Fragment, f, holders=tuple(f["holders"])) for f in values["fragments"]
        ),
    )


@dataclass(frozen=True, eq=False)
class MmaSimulation(ArrayReport):
    """A product made of tensor-core instructions with zero padding (d, float64)."""

    shape: str
    instructions: int
    products_formed: int
    products_useful: int
    d: Array

    def tables(self) -> list[Table]:
        rows = [
            ("instructions", digits(self.instructions)),
            ("products formed", digits(self.products_formed)),
            ("useful", digits(self.products_useful)),
        ]
        return [Table(("what", "value"), rows, left=("what",), title=self.shape)]


def simulate_mma(a: npt.ArrayLike, b: npt.ArrayLike, shape: str = "16x8x16") -> MmaSimulation:
    """Decomposes a (m, k) by b (k, n) into instructions of `shape`; sums in float32.

    >>> import numpy as np
    >>> run = simulate_mma(np.ones((17, 16)), np.ones((16, 8)))
    >>> run.instructions, float(run.d[16, 7])
    (2, 16.0)
    """
    values = _core.simulate_mma(_matrix(a, "simulate_mma: a"), _matrix(b, "simulate_mma: b"), shape)
    return from_dict(MmaSimulation, values)


@dataclass(frozen=True)
class LevelEstimate:
    """Bytes asked of one memory; bound_bytes, ridge: 0 where nothing is known."""

    level: str
    reads_from: str
    m: int
    n: int
    k: int
    reads: int
    bytes: float
    bound_bytes: float
    intensity: float
    ridge: float


@dataclass(frozen=True)
class TimeTerm:
    """One term of the estimate; terms overlap, so the time is the largest."""

    name: str
    time_us: float
    how: str


@dataclass(frozen=True)
class Block:
    """What one block of a GPU schedule needs, and how many fit."""

    m: int
    n: int
    k: int
    threads: int
    shared_bytes: int
    registers_per_thread: int
    blocks_per_sm: int
    occupancy: float
    occupancy_limiter: str
    tiles: int
    waves: int
    wave_efficiency: float
    padding_efficiency: float


@dataclass(frozen=True)
class Alternative:
    """Another schedule, or one change of this one, with its estimate."""

    what: str
    time_us: float
    limiter: str


@dataclass(frozen=True)
class ExplainReport(Report):
    """A product on a machine by a schedule, and everything that follows."""

    m: int
    n: int
    k: int
    batch: int
    dtype: str
    compute: str
    machine: str
    schedule: str
    chosen: bool
    time_us: float
    tflops: float
    peak_tflops: float
    limiter: str
    limiter_sentence: str
    remedy: str
    arithmetic: str
    peak: str
    ridge: float
    dram_bound_bytes: float
    terms: tuple[TimeTerm, ...]
    levels: tuple[LevelEstimate, ...]
    memories: tuple[LevelEstimate, ...]
    rows: tuple[TrafficRow, ...]
    block: Block | None
    schedules: tuple[Alternative, ...]
    changes: tuple[Alternative, ...]
    notes: tuple[str, ...]
    text: str
    svg: str

    def heading(self) -> str:
        return self.limiter_sentence

    def tables(self) -> list[Table]:
        terms = [(t.name, short(t.time_us), t.how) for t in self.terms]
        levels = [
            (
                level.level,
                readable_bytes(level.bytes),
                readable_bytes(level.bound_bytes) if level.bound_bytes else "",
                short(level.intensity),
                short(level.ridge) if level.ridge else "",
            )
            for level in (*self.levels, *self.memories)
        ]
        others = [(a.what, short(a.time_us), a.limiter) for a in (*self.changes, *self.schedules)]
        return [
            Table(("term", "us", "how"), terms, left=("term", "how")),
            Table(
                ("level", "bytes", "bound", "FLOP/byte", "ridge"), levels, left=("level",)
            ),
            Table(("instead", "us", "limiter"), others, left=("instead", "limiter")),
        ]

    def picture(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.text.rstrip("\n")


def explain(
    m: int,
    n: int,
    k: int,
    *,
    machine: str = "h200",
    schedule: str | Schedule | None = None,
    tiles: Sequence[str | int] | str | int | None = None,
    dtype: Any = "float32",
    compute: str | None = None,
    batch: int = 1,
    epilogue: str | None = None,
) -> ExplainReport:
    """Traffic in four quantities beside the bound, occupancy, waves, a time and what limits it.

    Closed forms only: nothing is run. machine: a name of `machines()`, "host" is this CPU.
    schedule: by default the one with the least estimated time. Cost: under 50 ms. Every assumption
    is in docs/explain.md. Raises ValueError, OverflowError, RuntimeError (another architecture).

    >>> explain(4096, 4096, 4096, dtype="bfloat16", machine="h100").schedule
    'wgmma_pipeline'
    """
    values = _core.explain(
        m,
        n,
        k,
        _type_name(dtype),
        compute,
        batch,
        epilogue,
        machine,
        _schedule_text(schedule),
        _tile_texts(tiles),
    )
    return from_dict(
        ExplainReport,
        values,
        terms=tuple(TimeTerm(**t) for t in values["terms"]),
        levels=tuple(LevelEstimate(**level) for level in values["levels"]),
        memories=tuple(LevelEstimate(**level) for level in values["memories"]),
        rows=tuple(TrafficRow(**row) for row in values["rows"]),
        block=Block(**values["block"]) if values["block"] else None,
        schedules=tuple(Alternative(**a) for a in values["schedules"]),
        changes=tuple(Alternative(**a) for a in values["changes"]),
        notes=tuple(values["notes"]),
    )
