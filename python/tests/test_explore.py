"""explore: what it starts with, the page that it writes, refusals. The widget itself is tested in a browser,
tests/web/test_widget.py."""

import importlib.util
import pathlib
from urllib.parse import parse_qs

import pytest

import tilewise
from tilewise import _core


@pytest.fixture
def without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "anywidget" else found(name)
    )


@pytest.fixture
def page() -> str:
    try:
        return _core.explorer_page("m=1&n=1&k=1")
    except RuntimeError as error:
        pytest.skip(str(error))


def test_starts_with_what_is_asked_for(without_anywidget: None) -> None:
    state = tilewise.explore(
        300, 200, 100, tiles=["block:16x32x8", "thread:4x4"], dtype="float16", machine="a100",
        scene="schedule", at=(3, 4), phase=2,
    ).state
    assert parse_qs(state) == {
        "m": ["300"], "n": ["200"], "k": ["100"], "type": ["f16"], "machine": ["a100"],
        "schedule": ["custom"], "tile": ["block:16x32x8", "thread:4x4x0"],
        "scene": ["schedule"], "at": ["3,4"], "phase": ["2"],
    }  # fmt: skip
    changed = tilewise.schedules()["double_buffer"].changed(name="mine", stages=3)
    assert parse_qs(tilewise.explore(schedule=changed).state)["stages"] == ["3"]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"m": -1}, ValueError, "m is"),
        ({"m": 2**80}, OverflowError, "m"),
        ({"m": "x"}, TypeError, "m"),
        ({"schedule": "sqare_tile"}, ValueError, "square_tile"),
        ({"machine": "h20"}, ValueError, "h200"),
        ({"dtype": "int8"}, ValueError, "int8"),
        ({"scene": "films"}, ValueError, "valid are tiles, schedule, order, banks"),
    ],
)
def test_refuses(arguments: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        tilewise.explore(**arguments)  # type: ignore[arg-type]


def test_is_a_frame_without_anywidget(
    without_anywidget: None, page: str, tmp_path: pathlib.Path
) -> None:
    shown = tilewise.explore(1000, 700, 520)
    assert "save(" in repr(shown)
    frame = shown._repr_html_()  # type: ignore[attr-defined]
    assert frame.startswith("<iframe ") and frame.count("<") == 2
    written = shown.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "m=1000&n=700&k=520" in written.replace("\\u0026", "&")
    assert len(written) < 1_000_000


def test_the_package_holds_the_page(page: str) -> None:
    widget = _core.explorer_widget()
    for name in ("tiles.js", "page.js", "style.css", "data.json", "module.wasm"):
        assert f'"{name}": ' in widget
    assert "export default { render }" in widget
