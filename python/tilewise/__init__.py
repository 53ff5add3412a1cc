"""Tiled matrix multiplication that explains itself.

>>> import numpy as np, tilewise
>>> a, b = np.ones((3, 4), np.float32), np.ones((4, 2), np.float32)
>>> tilewise.matmul(a, b, epilogue="relu(acc - 1)")
array([[3., 3.],
       [3., 3.],
       [3., 3.]], dtype=float32)
>>> tilewise.count(4096, 4096, 4096, tiles=["128", "8"]).tiled
1073741824

`matmul` multiplies; `count`, `simulate`, `bound`, `explain`, `mma` say what a tiling moves and why it
takes as long as it does; `explore` shows it in a notebook; `bench` and `ladder` measure. PyTorch:
`import tilewise.torch`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import __version__, matmul

if TYPE_CHECKING:  # the rest is imported when it is first asked for: matmul needs none of it
    from ._explore import Explorer, explore
    from ._measure import (
        BenchReport,
        BenchRow,
        LadderReport,
        LadderRow,
        PlanReport,
        bench,
        ladder,
        plan,
    )
    from ._model import (
        BarrierReport,
        BoundReport,
        CountReport,
        ExplainReport,
        MmaLayout,
        MmaReport,
        MmaSimulation,
        SimulationReport,
        bound,
        count,
        explain,
        mma,
        mma_layout,
        simulate,
        simulate_barriers,
        simulate_mma,
    )
    from ._report import Report
    from ._tables import Machine, Machines, Schedule, Schedules, Tile, machines, schedules
    from .exercises import matmul_traffic, mma_count, tiled_matmul, two_level_matmul

__all__ = [
    "BarrierReport",
    "BenchReport",
    "BenchRow",
    "BoundReport",
    "CountReport",
    "ExplainReport",
    "Explorer",
    "LadderReport",
    "LadderRow",
    "Machine",
    "Machines",
    "MmaLayout",
    "MmaReport",
    "MmaSimulation",
    "PlanReport",
    "Report",
    "Schedule",
    "Schedules",
    "SimulationReport",
    "Tile",
    "__version__",
    "bench",
    "bound",
    "count",
    "explain",
    "explore",
    "ladder",
    "machines",
    "matmul",
    "matmul_traffic",
    "mma",
    "mma_count",
    "mma_layout",
    "plan",
    "schedules",
    "simulate",
    "simulate_barriers",
    "simulate_mma",
    "tiled_matmul",
    "two_level_matmul",
]


_PARTS = ("_model", "_measure", "_tables", "_report", "_explore", "exercises")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f".{name}", __name__)
    if name in __all__:
        for part in _PARTS:
            module = import_module(f".{part}", __name__)
            if hasattr(module, name):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "exercises"]
