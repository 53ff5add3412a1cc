"""Draws docs/fp8_accumulation.svg: error of FP8 sums over K, kept in the tensor core or promoted.

From bench/results/h200/fp8_accumulation.json alone, by `make docs`.
"""

import math

from draw_tiles import COLOR_A, COLOR_B, INK, line, text

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 480, 50, 310
DECADES = (-6, 0)  # of the error
SERIES = [("uniform", "plain_rms", COLOR_B, "", "uniform, plain"),
          ("normal", "plain_rms", COLOR_B, "5 3", "normal, plain"),
          ("uniform", "promoted_rms", COLOR_A, "", "uniform, promoted"),
          ("normal", "promoted_rms", COLOR_A, "5 3", "normal, promoted")]


def draw(document):
    rows, where = document["rows"], document["environment"]
    ks = sorted({row["k"] for row in rows})

    def x(k):
        return LEFT + (RIGHT - LEFT) * math.log2(k / ks[0]) / math.log2(ks[-1] / ks[0])

    def y(error):
        return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - DECADES[0]) / (DECADES[1] - DECADES[0])

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           text(LEFT, 24, "Error of e4m3 sums over K: rms, over the rms sum of |a b|", 14,
                weight="bold")]
    for decade in range(DECADES[0], DECADES[1] + 1):
        at = y(10.0 ** decade)
        out += [line(LEFT, at, RIGHT, at), text(LEFT - 8, at + 4, f"1e{decade}", 11, anchor="end")]
    for k in ks:
        out += [line(x(k), TOP, x(k), BOTTOM), text(x(k), BOTTOM + 18, k, 11, anchor="middle")]
    out.append(text((LEFT + RIGHT) / 2, BOTTOM + 40, "K", 12, anchor="middle"))
    for data, key, color, dashes, name in SERIES:
        points = [(x(row["k"]), y(row[key])) for row in rows if row["data"] == data]
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" '
                   f'stroke-width="2"{dash}/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in points]
        out.append(text(RIGHT + 8, points[-1][1] + 4, name, 12, color))
    out += [text(LEFT, HEIGHT - 8, f"{where['card']}, {where['date'][:10]}; {where['data']}", 10,
                 INK), "</svg>"]
    return "\n".join(out) + "\n"
