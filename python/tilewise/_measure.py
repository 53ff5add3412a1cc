"""Measurements on this machine, and what a product would run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._model import _schedule_text, _type_name
from ._report import Report, Table, bar_chart, from_dict, short
from ._tables import Schedule


@dataclass(frozen=True)
class BenchRow:
    """One product: time_us is the median; share_of_peak and ratio are 0 where nothing is known."""

    name: str
    m: int
    n: int
    k: int
    batch: int
    schedule: str
    device: str
    threads: int
    time_us: float
    low_us: float
    high_us: float
    tflops: float
    share_of_peak: float
    verified: bool | None
    max_error: float
    error_bound: float
    ratio: float


LadderRow = BenchRow


def _row_table(rows: Sequence[BenchRow]) -> Table:
    cells = [
        (
            r.name,
            f"{r.m}x{r.n}x{r.k}" + (f" x{r.batch}" if r.batch != 1 else ""),
            r.schedule,
            short(r.time_us),
            short(r.tflops),
            f"{r.share_of_peak:.0%}" if r.share_of_peak else "",
            short(r.ratio) if r.ratio else "",
            "yes" if r.verified else "NO",
        )
        for r in rows
    ]
    headings = ("name", "m x n x k", "schedule", "us", "TFLOP/s", "of peak", "ratio", "verified")
    return Table(headings, cells, left=("name", "m x n x k", "schedule"))


@dataclass(frozen=True)
class BenchReport(Report):
    """Products measured on this machine's CPU, each checked against float64."""

    dtype: str
    layout: str
    epilogue: str
    rows: tuple[BenchRow, ...]

    def heading(self) -> str:
        return f"{self.dtype}, {self.layout}" + (f", {self.epilogue}" if self.epilogue else "")

    def tables(self) -> list[Table]:
        return [_row_table(self.rows)]

    def picture(self) -> str:
        return bar_chart("GFLOP/s", [(r.name, r.tflops * 1e3) for r in self.rows])


def bench(
    *shapes: Sequence[int],
    dtype: Any = "float32",
    layout: str = "nn",
    epilogue: str | None = None,
    schedule: str | Schedule | None = None,
    threads: int = 0,
    seed: int = 1,
    repeat_for_s: float = 0.5,
) -> BenchReport:
    """Times products of shape (m, n, k) or (m, n, k, batch) on this machine's CPU.

    layout: which operand is transposed in memory: "nn", "nt", "tn", "tt". threads 0: all that this
    process may use. Random operands with the seed; every result is checked. Raises ValueError,
    MemoryError (before anything runs), RuntimeError.

    >>> report = bench((64, 64, 64), repeat_for_s=0.01)
    >>> report.rows[0].verified
    True
    """
    asked = []
    for shape in shapes:
        if len(shape) not in (3, 4):
            raise ValueError(f"bench: a shape is {tuple(shape)}; give (m, n, k) or (m, n, k, batch)")
        m, n, k, batch = (*shape, 1)[:4]
        asked.append(("x".join(map(str, shape)), m, n, k, batch))
    type_name = _type_name(dtype)
    rows = _core.bench(
        asked, type_name, layout, epilogue or "", _schedule_text(schedule), threads, seed, repeat_for_s
    )
    return BenchReport(type_name, layout, epilogue or "", tuple(BenchRow(**row) for row in rows))


@dataclass(frozen=True)
class LadderReport(Report):
    """The rungs of the GPU's ladder, measured; ratio: the rival's time over ours."""

    card: str
    peak_tflops: float
    peak_source: str
    rows: tuple[BenchRow, ...]
    rival: BenchRow | None
    skipped: tuple[str, ...]

    def heading(self) -> str:
        return f"{self.card}, peak {short(self.peak_tflops)} TFLOP/s ({self.peak_source})"

    def tables(self) -> list[Table]:
        rows = self.rows + ((self.rival,) if self.rival else ())
        tables = [_row_table(rows)]
        if self.skipped:
            tables.append(Table(("skipped",), [(text,) for text in self.skipped], left=("skipped",)))
        return tables

    def picture(self) -> str:
        rows = self.rows + ((self.rival,) if self.rival else ())
        return bar_chart("GFLOP/s", [(r.name or r.schedule, r.tflops * 1e3) for r in rows])


def ladder(
    m: int,
    n: int,
    k: int,
    *,
    dtype: Any = "float32",
    compute: str | None = None,
    schedules: Sequence[str | Schedule] = (),
    against: str | None = None,
    seed: int = 1,
) -> LadderReport:
    """Runs, checks and times every rung that takes the product on the first GPU.

    against: "cublaslt" times NVIDIA's library on the same operands. Raises RuntimeError where there
    is no GPU, ValueError.
    """
    if against not in (None, "cublaslt"):
        raise ValueError(f'ladder: against is "{against}"; valid is cublaslt')
    names = [_schedule_text(schedule) or "" for schedule in schedules]
    values = _core.ladder(m, n, k, _type_name(dtype), compute, names, against is not None, seed)
    return from_dict(
        LadderReport,
        values,
        rows=tuple(BenchRow(**row) for row in values["rows"]),
        rival=BenchRow(**values["rival"]) if values["rival"] else None,
        skipped=tuple(values["skipped"]),
    )


@dataclass(frozen=True)
class PlanReport(Report):
    """What `matmul` of these arguments runs. copies: arrays that are copied first, and why; loop:
    runs of the library, one for each batch that its own batch dimension cannot hold."""

    m: int
    n: int
    k: int
    batch: int
    loop: int
    dtype: str
    compute: str
    schedule: Schedule
    device: str
    target: str
    threads: int
    workspace_bytes: int
    copies: tuple[str, ...]

    def tables(self) -> list[Table]:
        rows = [
            ("product", f"{self.m} x {self.n} x {self.k}, batch {self.batch}, {self.loop} runs"),
            ("result", self.dtype),
            ("compute", self.compute),
            ("schedule", f"{self.schedule.name}: {', '.join(map(str, self.schedule.tiles))}"),
            ("device", f"{self.device}, {self.target}, {self.threads} threads"),
            ("workspace", f"{self.workspace_bytes} bytes"),
        ]
        rows += [("copied", note) for note in self.copies] or [("copied", "nothing")]
        return [Table(("what", "value"), rows, left=("what", "value"))]


def plan(a: Any, b: Any, **options: Any) -> PlanReport:
    """What `matmul(a, b, **options)` would run; nothing is computed.

    >>> import numpy as np
    >>> a = np.ones((4, 6), np.float32)
    >>> plan(a, a.T[::-1]).copies
    ('b: 6 x 4 with strides (-4, 24) bytes, copied once',)
    """
    values = _core.describe_matmul(a, b, **options)
    schedule = Schedule.from_dict(json.loads(values.pop("schedule_json")))
    return from_dict(PlanReport, values, schedule=schedule, copies=tuple(values["copies"]))
