"""Reports: frozen dataclasses that print as tables, in a terminal and in a notebook."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of text under headings. Columns whose name is in `left` are aligned left."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[str] = ()
    title: str = ""

    def text(self) -> str:
        widths = [len(h) for h in self.headings]
        for row in self.rows:
            widths = [max(w, len(cell)) for w, cell in zip(widths, row, strict=True)]

        def line(cells: Sequence[str]) -> str:
            padded = (
                cell.ljust(w) if heading in self.left else cell.rjust(w)
                for cell, w, heading in zip(cells, widths, self.headings, strict=True)
            )
            return "  ".join(padded).rstrip()

        lines = [self.title] if self.title else []
        lines += [line(self.headings), "  ".join("-" * w for w in widths)]
        return "\n".join(lines + [line(row) for row in self.rows])

    def html(self) -> str:
        def cells(tag: str, row: Sequence[str]) -> str:
            return "".join(
                f'<{tag} style="text-align:{"left" if h in self.left else "right"}">'
                f"{html.escape(cell)}</{tag}>"
                for h, cell in zip(self.headings, row, strict=True)
            )

        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in self.rows)
        head = f"<thead><tr>{cells('th', self.headings)}</tr></thead>"
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


class Report:
    """What the reports share. Subclasses are frozen dataclasses."""

    def tables(self) -> list[Table]:
        """The report as tables, in reading order."""
        raise NotImplementedError

    def heading(self) -> str:
        """One line above the tables."""
        return ""

    def picture(self) -> str:
        """An SVG document, or nothing."""
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, texts and numbers, as json.dumps takes them; arrays become lists."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        parts = [self.heading()] if self.heading() else []
        return "\n\n".join(parts + [table.text() for table in self.tables()])

    def _repr_html_(self) -> str:
        heading = f"<p>{html.escape(self.heading())}</p>" if self.heading() else ""
        tables = "".join(table.html() for table in self.tables())
        return f"<div>{heading}{self.picture()}{tables}</div>"


class ArrayReport(Report):
    """A report with arrays in it: equal where the values are. Subclasses are made with eq=False."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _same(getattr(self, f.name), getattr(other, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray):
        return bool(x.dtype == y.dtype and np.array_equal(x, y, equal_nan=True))
    return bool(x == y)


def _plain(value: Any) -> Any:
    if isinstance(value, Report):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def from_dict(kind: type[T], values: dict[str, Any], **more: Any) -> T:
    """A dataclass from the compiled part's dict; `more` replaces nested values."""
    names = {f.name for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{k: v for k, v in {**values, **more}.items() if k in names})


def digits(value: int) -> str:
    """1234567 as 1,234,567."""
    return f"{value:,}"


def short(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"


def extents(m: int, n: int, k: int) -> str:
    """A tile's extents; * spans what is outside it."""
    plane = f"{m or '*'}x{n or '*'}"
    return f"{plane}x{k}" if k else plane


def readable_bytes(value: float) -> str:
    """Decimal units."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB"):
        if abs(value) < 1000:
            return f"{value:.4g} {unit}"
        value /= 1000
    return f"{value:.4g} EB"


def bar_chart(title: str, bars: Iterable[tuple[str, float]], unit: str = "") -> str:
    """Horizontal bars on a logarithmic scale, as SVG; values under 1 have no bar."""
    shown = [(name, value) for name, value in bars if value >= 1]
    if not shown:
        return ""
    logs = np.log10([value for _, value in shown])
    low = float(np.floor(min(logs))) - 1
    scale = 360.0 / max(float(max(logs)) - low, 1e-9)
    rows = []
    for i, ((name, value), log) in enumerate(zip(shown, logs, strict=True)):
        y = 28 + 22 * i
        rows.append(
            f'<text x="126" y="{y + 12}" text-anchor="end">{html.escape(name)}</text>'
            f'<rect x="132" y="{y}" width="{(float(log) - low) * scale:.1f}" height="16" '
            f'fill="#4878a8"/>'
            f'<text x="{138 + (float(log) - low) * scale:.1f}" y="{y + 12}">{value:,.4g}{unit}</text>'
        )
    height = 36 + 22 * len(shown)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" '
        f'viewBox="0 0 640 {height}" font-family="sans-serif" font-size="12">'
        f'<text x="8" y="16" font-weight="bold">{html.escape(title)} (logarithmic)</text>'
        + "".join(rows)
        + "</svg>"
    )
