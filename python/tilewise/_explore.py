"""The explorer in a notebook: a page on which a tiling can be watched, step by step."""

from __future__ import annotations

import functools
import html
import importlib.util
import os
import pathlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from . import _core
from ._model import _schedule_text, _tile_texts, _type_name
from ._tables import Schedule

_SCENES = ("tiles", "schedule", "order", "banks")
_FRAME_HEIGHT = 900  # pixels, without anywidget


class Explorer:
    """What `explore` returns. `state` is all that is chosen, as the page's address writes it:
    "m=4096&n=4096&k=4096&schedule=mma&at=3,4&phase=2"."""

    state: str

    def to_html(self) -> str:
        """The same page as one HTML document, which needs nothing else."""
        return _core.explorer_page(self.state)

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes that document. Returns its path."""
        written = pathlib.Path(path)
        written.write_text(self.to_html(), encoding="utf-8")
        return written


class ExplorerFrame(Explorer):
    """The page in a frame, where anywidget is not installed: what is chosen in it stays in it."""

    def __init__(self, state: str) -> None:
        self.state = state

    def __repr__(self) -> str:
        return (
            f"<tilewise explorer, {self.state}: shown by a notebook; "
            'save("page.html") writes it for a browser>'
        )

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="tilewise explorer" srcdoc="{html.escape(self.to_html())}" '
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:0"></iframe>'
        )


@functools.cache
def _widget_class() -> type[Any]:
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget, Explorer):  # type: ignore[misc]
        """The page as a widget; `state` follows what is chosen in it, and can be set."""

        _esm = _core.explorer_widget()
        state = traitlets.Unicode().tag(sync=True)

    return ExplorerWidget


def explore(
    m: int = 4096,
    n: int = 4096,
    k: int = 4096,
    *,
    schedule: str | Schedule | None = None,
    tiles: Sequence[str | int] | str | int | None = None,
    dtype: Any = "float32",
    machine: str = "h200",
    scene: str = "tiles",
    at: tuple[int, int] | None = None,
    phase: int | None = None,
) -> Explorer:
    """The explorer, as a notebook's widget: a tile of C through its phases with exact counters, the
    schedule as a form, launch orders, banks.

    schedule, tiles, dtype, machine: as in `explain`; by default the schedule "square_tile". scene:
    "tiles", "schedule", "order" or "banks". at, phase: the tile of C (row, column) and the phase.

    With anywidget (`pip install tilewise[notebook]`) this is a widget whose `state` follows what is
    chosen in it; without, the same page in a frame. Either has `save(path)`. Cost: the page is one
    document of under 1 MB. Raises ValueError, TypeError, OverflowError; RuntimeError where the
    package was built without the page's WebAssembly module.

    >>> explore(1000, 700, 520, schedule="mma", dtype="bfloat16").state
    'm=1000&n=700&k=520&schedule=mma&type=bf16&machine=h200'
    """
    if scene not in _SCENES:
        raise ValueError(f'explore: scene is "{scene}"; valid are {", ".join(_SCENES)}')
    start = _core.explorer_start(
        m, n, k, _schedule_text(schedule), _tile_texts(tiles), _type_name(dtype), machine
    )
    chosen = {"scene": scene if scene != "tiles" else None, "phase": phase}
    chosen["at"] = f"{at[0]},{at[1]}" if at else None
    more = urlencode({name: value for name, value in chosen.items() if value is not None})
    state = f"{start}&{more}" if more else start
    if importlib.util.find_spec("anywidget") is None:
        return ExplorerFrame(state)
    widget: Explorer = _widget_class()(state=state)
    return widget
