"""The named schedules and the described machines, as the library holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._report import Report, Table, extents, readable_bytes, short


@dataclass(frozen=True)
class Tile:
    """One level of tiling, in elements; 0 spans what is outside. repeat_*: strided pieces."""

    level: str
    m: int = 0
    n: int = 0
    k: int = 0
    repeat_m: int = 1
    repeat_n: int = 1

    def __str__(self) -> str:
        pieces = (
            f" in {self.repeat_m}x{self.repeat_n} pieces"
            if (self.repeat_m, self.repeat_n) != (1, 1)
            else ""
        )
        return f"{self.level} {extents(self.m, self.n, self.k)}{pieces}"


@dataclass(frozen=True)
class Schedule(Report):
    """How a product is tiled: what is counted, simulated and run ("tilewise.schedule/1").

    options: every other field of the JSON form (stages, copy, order, split_k, ...).
    """

    name: str
    kernel: str
    device: str
    tiles: tuple[Tile, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Schedule:
        """From the JSON form. ValueError: what the library refuses, with its message."""
        known = json.loads(_core.check_schedule(json.dumps(dict(values))))
        tiles = tuple(Tile(**tile) for tile in known.pop("tiles", []))
        known.pop("schema", None)
        named = {name: known.pop(name, "") for name in ("name", "kernel", "device", "note")}
        return cls(tiles=tiles, options=known, **named)

    def to_dict(self) -> dict[str, Any]:
        tiles = []
        for tile in self.tiles:
            values = {k: v for k, v in vars(tile).items() if k == "level" or v}
            if (tile.repeat_m, tile.repeat_n) == (1, 1):
                values.pop("repeat_m"), values.pop("repeat_n")
            tiles.append(values)
        return {
            "schema": "tilewise.schedule/1",
            "name": self.name,
            "kernel": self.kernel,
            "device": self.device,
            "tiles": tiles,
            **self.options,
            "note": self.note,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def changed(self, **fields: Any) -> Schedule:
        """The same with other fields, checked.

        >>> schedules()["double_buffer"].changed(stages=2).options["stages"]
        2
        """
        return Schedule.from_dict({**self.to_dict(), **fields})

    def heading(self) -> str:
        return f"{self.name}: {self.note}" if self.note else self.name

    def tables(self) -> list[Table]:
        rows = [("kernel", self.kernel), ("device", self.device)]
        rows += [("tile", str(tile)) for tile in self.tiles]
        rows += [(k, v if isinstance(v, str) else json.dumps(v)) for k, v in self.options.items()]
        return [Table(("field", "value"), rows, left=("field", "value"))]

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        return Report.__str__(self)


class _Named(Mapping[str, Any], Report):
    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, Any]:
        return {name: value.to_dict() for name, value in self._values.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._values)})"


class Schedules(_Named):
    """The named schedules by name."""

    def tables(self) -> list[Table]:
        rows = [
            (s.name, s.device, ", ".join(map(str, s.tiles)), s.note) for s in self._values.values()
        ]
        headings = ("name", "device", "tiles", "note")
        return [Table(headings, rows, left=headings)]


def schedules() -> Schedules:
    """The named schedules: the ladder's rungs in order, then the CPU's.

    >>> schedules()["square_tile"].tiles[0]
    Tile(level='block', m=128, n=128, k=8, repeat_m=1, repeat_n=1)
    """
    found = [Schedule.from_dict(json.loads(text)) for text in _core.schedules()]
    return Schedules({schedule.name: schedule for schedule in found})


@dataclass(frozen=True)
class Machine(Report):
    """A machine: levels of memory, peaks, limits; every figure is {"value", "source"}."""

    name: str
    title: str
    device: str
    architecture: str
    num_units: int
    memory: tuple[Mapping[str, Any], ...]
    peaks: tuple[Mapping[str, Any], ...]
    limits: Mapping[str, int]
    other: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Machine:
        rest = dict(values)
        rest.pop("schema", None)
        return cls(
            name=rest.pop("name"),
            title=rest.pop("title", ""),
            device=rest.pop("device", ""),
            architecture=rest.pop("architecture", ""),
            num_units=rest.pop("num_units", 0),
            memory=tuple(rest.pop("memory", ())),
            peaks=tuple(rest.pop("peaks", ())),
            limits=rest.pop("limits", {}),
            other=rest,
        )

    def heading(self) -> str:
        units = "SMs" if self.device == "gpu" else "cores"
        return f"{self.name}: {self.title}, {self.num_units} {units}, {self.architecture}"

    def tables(self) -> list[Table]:
        memory = []
        for level in self.memory:
            best = level.get("measured_bandwidth_gbps") or level.get("bandwidth_gbps") or {}
            capacity = level.get("capacity_bytes", {}).get("value", 0)
            bandwidth = best.get("value", 0)
            memory.append(
                (
                    level["name"],
                    readable_bytes(capacity) if capacity else "",
                    level.get("unit", ""),
                    short(bandwidth) if bandwidth else "",
                    best.get("source", ""),
                )
            )
        peaks = []
        for peak in self.peaks:
            figures = [peak.get(name, {}).get("value", 0) for name in ("tflops", "measured_tflops")]
            peaks.append((peak["name"], *(short(f) if f else "" for f in figures)))
        return [
            Table(
                ("memory", "capacity", "of one", "GB/s", "source"),
                memory,
                left=("memory", "of one", "source"),
            ),
            Table(("peak", "TFLOP/s", "measured"), peaks, left=("peak",)),
        ]


class Machines(_Named):
    """The described machines by name; "host" is this one."""

    def tables(self) -> list[Table]:
        rows = [
            (m.name, m.title, m.device, m.architecture, str(m.num_units))
            for m in self._values.values()
        ]
        headings = ("name", "title", "device", "architecture", "SMs or cores")
        return [Table(headings, rows, left=headings[:4])]


def machines() -> Machines:
    """The machines that `explain` knows; every figure carries its source.

    >>> machines()["h200"].num_units
    132
    """
    found = [Machine.from_dict(json.loads(text)) for text in _core.machines()]
    return Machines({machine.name: machine for machine in found})
