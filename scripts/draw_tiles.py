"""Draws docs/tiles.svg: matrix, block tile and register tile, each to scale, with their counts.

The counts are those of `tilewise count 4096 4096 4096 --schedule square_tile`, taken from its JSON.
"""

SIDE = 200  # of each square of C, in pixels
GAP = 14
INK, FAINT, PAPER = "#1f2933", "#9aa5b1", "#ffffff"
COLOR_A, COLOR_B, COLOR_C = "#2f7ed8", "#e07b00", "#2a9d5c"


def rectangle(x, y, width, height, fill, stroke=INK, opacity=1.0):
    return (f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
            f'fill-opacity="{opacity:g}" stroke="{stroke}" stroke-width="0.8"/>')


def text(x, y, words, size=13, color=INK, anchor="start", weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{words}</text>')


def line(x1, y1, x2, y2, color=FAINT, width=0.6, dashes=""):
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" '
            f'stroke-width="{width:g}"{dash}/>')


def grid(x, y, width, height, columns, rows):
    lines = [line(x + i * width / columns, y, x + i * width / columns, y + height)
             for i in range(1, columns)]
    return lines + [line(x, y + i * height / rows, x + width, y + i * height / rows)
                    for i in range(1, rows)]


def panel(x, y, depth, cells, mark, title, labels):
    """C at (x, y), A to its left and B above it, both `depth` pixels wide.

    cells: tiles along a side; mark: (column, row) of the tile drawn in the next panel.
    """
    cell = SIDE / cells
    out = [
        rectangle(x - GAP - depth, y, depth, SIDE, COLOR_A, opacity=0.15),
        rectangle(x, y - GAP - depth, SIDE, depth, COLOR_B, opacity=0.15),
        rectangle(x, y, SIDE, SIDE, COLOR_C, opacity=0.10),
        *grid(x, y, SIDE, SIDE, cells, cells),
        *(grid(x - GAP - depth, y, depth, SIDE, 1, cells) if cells <= 16 else []),
        *(grid(x, y - GAP - depth, SIDE, depth, cells, 1) if cells <= 16 else []),
        text(x - GAP - depth / 2, y + SIDE + 16, labels[0], 12, COLOR_A, "middle"),
        text(x + SIDE + 6, y - GAP - depth / 2 + 4, labels[1], 12, COLOR_B),
        text(x + SIDE / 2, y + SIDE + 16, labels[2], 12, COLOR_C, "middle"),
        text(x + SIDE / 2, y + SIDE + 44, title, 14, INK, "middle", "bold"),
    ]
    column, row = mark
    if row is not None:
        out += [
            rectangle(x - GAP - depth, y + row * cell, depth, cell, COLOR_A, COLOR_A, 0.45),
            rectangle(x + column * cell, y - GAP - depth, cell, depth, COLOR_B, COLOR_B, 0.45),
            rectangle(x + column * cell, y + row * cell, cell, cell, COLOR_C, INK, 0.9),
        ]
    return out


def zoom(x, y, cells, mark, next_x):
    """Dashed lines from the marked tile of the C at (x, y) to the next panel's C."""
    cell = SIDE / cells
    right = x + (mark[0] + 1) * cell
    return [
        line(right, y + mark[1] * cell, next_x, y, FAINT, 1, "4 3"),
        line(right, y + (mark[1] + 1) * cell, next_x, y + SIDE, FAINT, 1, "4 3"),
    ]


def caption(x, y, rows):
    return [text(x, y + 18 * i, words, 12.5, INK, "middle") for i, words in enumerate(rows)]


def draw(count):
    """The picture as SVG text, from the JSON document of `tilewise count`."""
    block, thread = count["levels"]
    blocks, threads = count["m"] // block["m"], block["m"] // thread["m"]
    phases = count["k"] // block["k"]
    depth = SIDE * block["k"] / block["m"]  # of a phase, at the scale of the block
    column = SIDE / thread["m"]  # one step of k, at the scale of the thread
    y = 250
    xs = [250, 590, 920]
    marks = [(19, 11), (9, 5), (None, None)]
    out = [
        *zoom(xs[0], y, blocks, marks[0], xs[1]),
        *zoom(xs[1], y, threads, marks[1], xs[2]),
        *panel(xs[0], y, SIDE, blocks, marks[0], f"block: {block['m']} x {block['n']} outputs",
               (f"A  {count['m']} x {count['k']}", f"B  {count['k']} x {count['n']}",
                f"C  {count['m']} x {count['n']}")),
        *panel(xs[1], y, depth, threads, marks[1], f"thread: {thread['m']} x {thread['n']} outputs",
               (f"{block['m']} x {block['k']}", f"{block['k']} x {block['n']}", "one block of C")),
        *panel(xs[2], y, column, thread["m"], marks[2], "one step k",
               (f"{thread['m']} x 1", f"1 x {thread['n']}", "one thread's outputs")),
    ]
    # The phase that is being loaded: a stripe of the block's panels of A and B, four times too wide so
    # that it can be seen.
    stripe, cell = SIDE * block["k"] / count["k"] * 4, SIDE / blocks
    out += [
        rectangle(xs[0] - GAP - SIDE * 0.6, y + marks[0][1] * cell, stripe, cell, COLOR_A),
        rectangle(xs[0] + marks[0][0] * cell, y - GAP - SIDE * 0.4, cell, stripe, COLOR_B),
    ]
    per_step = thread["m"] + thread["n"]
    out += caption(xs[0] + SIDE / 2, y + SIDE + 64, [
        f"{phases} phases of {block['k']} along K, global to shared:",
        f"{block['reads']:,} reads, {count['naive'] // block['reads']} times fewer",
        f"than the naive {count['naive']:,}",
    ])
    out += caption(xs[1] + SIDE / 2, y + SIDE + 64, [
        "a phase in shared memory; shared to registers:",
        f"{thread['reads']:,} reads,",
        f"{count['naive'] // thread['reads']} times fewer than naive",
    ])
    out += caption(xs[2] + SIDE / 2, y + SIDE + 64, [
        f"{per_step} values in registers feed",
        f"{thread['m'] * thread['n']} multiply-adds: {per_step / thread['m'] / thread['n']:g} reads each",
        "instead of 2",
    ])
    width, height = 1180, 570
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif">',
        f"<title>Tiles of {count['m']} x {count['n']} x {count['k']} in float32, to scale</title>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        *out, "</svg>", "",
    ])
