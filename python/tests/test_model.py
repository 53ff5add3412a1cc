"""The model's reports and the exercises' solutions: values, tables, pickles."""

import json
import pickle

import numpy as np
import pytest
import tilewise


def test_matmul_traffic():
    assert tilewise.matmul_traffic(4096, 4096, 4096, 128) == {
        "naive": 2 * 4096**3, "tiled": 2 * 4096**3 // 128, "minimum": 2 * 4096**2}
    assert tilewise.matmul_traffic(5, 7, 3, 4)["tiled"] == 5 * 3 * 2 + 3 * 7 * 2
    assert tilewise.matmul_traffic(0, 7, 3, 4)["minimum"] == 0
    big = tilewise.matmul_traffic(2**40, 2**40, 2**40, 2**20)
    assert big == {"naive": 2**121, "tiled": 2**101, "minimum": 2**81}


@pytest.mark.parametrize("error, words, arguments", [
    (OverflowError, "2^127", (2**60, 2**60, 2**60, 2)), (OverflowError, "2^63", (2**64, 1, 1, 1)),
    (ValueError, "-1", (-1, 1, 1, 1)), (ValueError, "b", (1, 1, 1, 0)), (TypeError, "1.5", (1.5, 1, 1, 1))])
def test_matmul_traffic_refuses(error, words, arguments):
    with pytest.raises(error) as caught:
        tilewise.matmul_traffic(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 3), (16, 16, 16), (17, 13, 11), (4, 4, 0), (0, 3, 2)])
def test_tiled_and_two_level(shape, random):
    m, n, k = shape
    a, b = random.integers(-4, 5, (m, k)), random.integers(-4, 5, (k, n))
    for edge, inner in ((4, 2), (8, 8), (3, 1), (32, 4)):
        c, reads = tilewise.tiled_matmul(a, b, edge)
        assert np.array_equal(c, a @ b)
        traffic = tilewise.matmul_traffic(m, n, k, edge)
        assert reads == {"global_reads": traffic["tiled"] if k else 0, "shared_reads": 2 * m * n * k}
        c, both = tilewise.two_level_matmul(a, b, edge, inner)
        assert np.array_equal(c, a @ b)
        assert both["global_reads"] == reads["global_reads"]
        if m % edge == n % edge == 0:
            assert both["shared_reads"] == 2 * m * n * k // inner


def test_float32_sums_in_float32(random):
    a, b = random.standard_normal((2, 40, 40)).astype(np.float32)
    c, _ = tilewise.tiled_matmul(a, b, 8)
    assert c.dtype == np.float32 and not np.array_equal(c, (a.astype(float) @ b).astype(np.float32))


def test_exercises_refuse():
    with pytest.raises(ValueError, match="t divides b"):
        tilewise.two_level_matmul(np.ones((2, 2)), np.ones((2, 2)), 4, 3)
    with pytest.raises(ValueError, match="columns"):
        tilewise.tiled_matmul(np.ones((2, 3)), np.ones((2, 2)), 4)
    with pytest.raises(ValueError, match="1 wide"):
        tilewise.tiled_matmul(np.ones((2, 2)), np.ones((2, 2)), 0)
    with pytest.raises(ValueError, match="dimensions"):
        tilewise.tiled_matmul(np.ones(2), np.ones((2, 2)), 2)


def test_mma_count():
    assert tilewise.mma_count(17, 8, 16) == (2, 17 / 32)
    assert tilewise.mma_count(100, 100, 100) == (7 * 13 * 7, 1e6 / (112 * 104 * 112))
    assert tilewise.mma_count(0, 8, 16) == (0, 0.0)
    assert tilewise.mma_count(64, 64, 64, 64, 64, 64) == (1, 1.0)
    assert isinstance(tilewise.mma_count(2**50, 2**50, 2**30)[0], int)
    with pytest.raises(ValueError):
        tilewise.mma_count(1, 1, 1, 0)


def test_simulation_equals_the_closed_form(random):
    a, b = random.standard_normal((33, 20)), random.standard_normal((20, 17))
    for tiles in (["8"], ["16", "4"], ["block:16x8x4", "thread:4x2"]):
        counted = tilewise.count(33, 17, 20, tiles=tiles)
        run = tilewise.simulate(a, b, tiles=tiles)
        assert run.equals_count and run.global_reads == counted.tiled
        assert [(s.reads_a, s.reads_b) for s in run.levels] == [(c.reads_a, c.reads_b) for c in counted.levels]
        assert np.allclose(run.d, a @ b)
    bias = np.arange(17.0)
    run = tilewise.simulate(a, b, epilogue="relu(acc + bias[n])", operands={"bias": bias})
    assert np.allclose(run.d, np.maximum(a @ b + bias, 0))


def test_barriers(random):
    a, b = random.standard_normal((2, 64, 64))
    assert tilewise.simulate_barriers(a, b, 0, tiles="16").wrong_elements == 0
    for barrier in (1, 2):
        report = tilewise.simulate_barriers(a, b, barrier, tiles="16")
        assert report.wrong_elements > 0 and report.first_fault
    with pytest.raises(ValueError):
        tilewise.simulate_barriers(a, b, 3)


def test_bound_and_mma():
    report = tilewise.bound(1024, 1024, 1024, 1024)
    assert report.schedules[0].moved > report.floor > report.compulsory
    assert tilewise.bound(1024, 1024, 1024, 1024, beta=1, counted="reads").output == "updated"
    for bad in ({"beta": 2}, {"counted": "writes"}):
        with pytest.raises(ValueError):
            tilewise.bound(8, 8, 8, 8, **bad)
    assert tilewise.mma(17, 17, 17, "m16n8k16").padded_n == 24
    run = tilewise.simulate_mma(np.ones((17, 17)), np.ones((17, 17)))
    assert (run.d == 17).all() and run.products_useful == 17**3
    holders = {tuple(h) for f in tilewise.mma_layout().fragments[:1] for h in f.holders}
    assert len(holders) == 16 * 16


def test_explain():
    report = tilewise.explain(4096, 4096, 4096, dtype="bfloat16", machine="h100")
    assert report.chosen and report.block is not None and report.block.waves == 4
    assert "Limited by" in str(report) and report.svg.startswith("<svg")
    assert tilewise.explain(100, 100, 100, machine="host").block is None
    with pytest.raises(ValueError, match="h100"):
        tilewise.explain(8, 8, 8, machine="h10")


def test_named_tables():
    schedules = tilewise.schedules()
    assert list(schedules)[:2] == ["naive_rows", "naive"]
    for schedule in schedules.values():
        assert tilewise.Schedule.from_dict(json.loads(schedule.to_json())) == schedule
        assert hash(schedule) == hash(tilewise.schedules()[schedule.name])
    with pytest.raises(ValueError, match="stages"):
        schedules["double_buffer"].changed(stages=-1)
    assert set(tilewise.machines()) >= {"h200", "a100", "host"}


def reports():
    ones = np.ones((8, 8), np.float32)
    yield tilewise.count(100, 100, 100, tiles="16")
    yield tilewise.simulate(ones, ones, tiles="4")
    yield tilewise.simulate_barriers(ones, ones, 1, tiles="4")
    yield tilewise.bound(64, 64, 64, 64)
    yield tilewise.mma(17, 17, 17)
    yield tilewise.mma_layout()
    yield tilewise.simulate_mma(ones, ones)
    yield tilewise.explain(512, 512, 512)
    yield tilewise.plan(ones, ones[::-1])
    yield tilewise.bench((32, 32, 32), repeat_for_s=0.01)
    yield tilewise.schedules()["tuned_f32"]
    yield tilewise.machines()["h200"]


@pytest.mark.parametrize("report", list(reports()), ids=lambda r: type(r).__name__)
def test_reports_print_pickle_and_show(report):
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report) and len(str(report).splitlines()) > 2
    assert "<table>" in report._repr_html_()
    assert json.dumps(report.to_dict())
    with pytest.raises(AttributeError):
        report.m = 3


def test_bench_checks_results():
    report = tilewise.bench((64, 48, 32), (5, 6, 7, 3), dtype="float64", layout="nt", epilogue="relu(acc)",
                            repeat_for_s=0.01)
    assert [row.verified for row in report.rows] == [True, True] and report.rows[1].batch == 3
    with pytest.raises(ValueError):
        tilewise.bench((1, 2))
    with pytest.raises(MemoryError):
        tilewise.bench((10**6, 10**6, 10))


@pytest.mark.parametrize("error, words, epilogue, operands", [
    (ValueError, "bias is (4,)", "acc + bias[n]", {"bias": np.ones(4)}),
    (ValueError, "bias is (7, 1)", "acc + bias[n]", {"bias": np.ones((7, 1))}),
    (ValueError, "c is (9, 9)", "acc + c[m,n]", {"c": np.ones((9, 9))}),
    (ValueError, "names bias", "acc + bias[n]", None),
    (ValueError, "\"other\"", "acc + bias[n]", {"bias": np.ones(3), "other": 1}),
    (ValueError, "\"5\"", "acc + bias[n]", {"bias": np.ones(3), 5: 1}),
    (ValueError, "no epilogue", None, {"c": np.ones((2, 3))}),
    (TypeError, "operands is int", "acc + bias[n]", 5),
    (TypeError, "complex128", "acc + bias[n]", {"bias": np.ones(3) * 1j})])
def test_simulate_refuses_operands_as_matmul_does(error, words, epilogue, operands):
    with pytest.raises(error) as caught:
        tilewise.simulate(np.ones((2, 4)), np.ones((4, 3)), tiles="2", epilogue=epilogue, operands=operands)
    assert str(caught.value).startswith("simulate: ") and words in str(caught.value)


def test_simulate_takes_what_matmul_takes():
    operands = {"alpha": 2, "bias": [1, 2, 3], "c": np.ones((2, 3))}
    run = tilewise.simulate(np.ones((2, 4)), np.ones((4, 3)), tiles="2",
                            epilogue="alpha * acc + bias[n] + c[m,n]", operands=operands)
    assert np.array_equal(run.d, np.full((2, 3), 9.0) + np.array([1, 2, 3.0]))


@pytest.mark.parametrize("call", [
    lambda x: tilewise.simulate(x, x, tiles="2"), lambda x: tilewise.tiled_matmul(x, x, 2),
    lambda x: tilewise.two_level_matmul(x, x, 2, 1), lambda x: tilewise.simulate_mma(x, x)])
def test_complex_numbers_are_refused(call):
    with pytest.raises(TypeError, match="complex64"):
        call(np.ones((2, 2), np.complex64))


@pytest.mark.parametrize("make", [
    lambda a: tilewise.simulate(a, a, tiles="2"), lambda a: tilewise.simulate_barriers(a, a, 1, tiles="2"),
    lambda a: tilewise.simulate_mma(a, a)])
def test_reports_with_arrays_are_plain_and_equal_by_value(make):
    report = make(np.ones((4, 4)))
    assert json.loads(json.dumps(report.to_dict()))["d"] == report.d.tolist()
    assert pickle.loads(pickle.dumps(report)) == report
    assert report != make(np.full((4, 4), 2.0)) and report != 1


def test_sizes_end_at_two_to_the_63():
    assert tilewise.matmul_traffic(2**63 - 1, 1, 1, 1)["naive"] == 2**64 - 2
    for call in (lambda m: tilewise.matmul_traffic(m, 1, 1, 1), lambda m: tilewise.mma_count(m, 1, 1),
                 lambda m: tilewise.count(m, 1, 1), lambda m: tilewise.mma(m, 1, 1)):
        with pytest.raises(OverflowError, match="2\\^63 - 1"):
            call(2**63)
        for negative in (-1, -(2**63), -(2**63) - 1, -(2**200)):
            with pytest.raises(ValueError):
                call(negative)
