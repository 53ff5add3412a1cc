// Inside a block: the tiles of warps and threads, and the outer products of one thread's registers.
import { Drawing, digits, element } from 'tilewise/draw.js';
import { plural, sentence } from 'tilewise/message.js';

const kMostRuns = 16;  // told in a sentence

// Ascending numbers as [first, last] of those that are at most `reach` apart.
function runsOf(numbers, reach) {
  const runs = [];
  for (const x of numbers) {
    if (runs.length && x - runs.at(-1)[1] <= reach) runs.at(-1)[1] = x;
    else runs.push([x, x]);
  }
  return runs;
}

export class InsideFigure {
  constructor(state, model) {
    this.state = state;
    this.model = model;
    this.drawing = new Drawing('Tiles inside a block', (...a) => this.draw(...a), w => Math.min(w, 560));
    this.drawing.canvas.addEventListener('click', event => this.click(event));
    this.caption = element('figcaption', { id: 'inside-text' });
    const number = (name, label) => element('input', { inputmode: 'numeric', size: '4', 'aria-label': label, name, onchange: () => this.take() });
    this.row = number('row', 'Row of the thread tile');
    this.column = number('column', 'Column of the thread tile');
    this.scrub = element('input', { type: 'range', min: '0', value: '0', 'aria-label': 'Outer product',
      oninput: () => this.state.set({ step: this.scrub.value }) });
    const step = by => () => this.answer.error || this.state.set({ step: String(Math.min(Math.max(0, this.k() + by), this.answer.depth - 1)) });
    this.what = element('span', {}, 'tile ');
    this.controls = element('div', { class: 'row' },
      element('span', { class: 'at' }, this.what, this.row, ' , ', this.column),
      element('button', { type: 'button', 'aria-label': 'Previous outer product', onclick: step(-1) }, '◀'),
      element('button', { type: 'button', 'aria-label': 'Next outer product', onclick: step(1) }, '▶'),
      this.scrub);
    this.root = element('section', { class: 'card' }, element('h2', {}, 'Inside the block: registers'),
      element('div', { class: 'split' },
        element('figure', { class: 'stage' }, this.drawing.canvas),
        element('div', { class: 'side' }, this.controls, this.caption)));
  }

  show(count, at) {
    // All phases but the last look alike inside.
    const phase = at.phase;
    this.place = at;
    const place = { at: at.at, phase: phase === String(count.phases - 1) ? phase : '', thread: this.state.get('thread') };
    const answer = count.error ? count : this.model.ask('inside', this.state.query(place));
    this.answer = answer;
    this.controls.hidden = Boolean(count.error);
    this.drawing.canvas.hidden = Boolean(answer.error);
    if (answer.error) {
      this.caption.textContent = count.error ? '' : sentence(answer.error);
      this.what.textContent = 'tile ';
      const [row = '', column = ''] = place.thread.split(',');
      this.write(row, column);
      this.shown = null;
      return;
    }
    const shown = `${this.k()} ${JSON.stringify(place)}`;
    if (answer === this.shownAnswer && shown === this.shown) return;
    this.shownAnswer = answer;
    this.shown = shown;
    this.what.textContent = `${answer.level} `;
    this.write(answer.thread_row, answer.thread_column);
    this.scrub.max = String(Math.max(0, answer.depth - 1));
    this.scrub.value = String(this.k());
    this.caption.textContent = this.sentence();
    this.drawing.redraw();
  }

  write(row, column) {
    if (!this.state.typing(this.row)) this.row.value = row;
    if (!this.state.typing(this.column)) this.column.value = column;
  }
  k() { return Math.min(this.state.number('step', 0), Math.max(0, this.answer.depth - 1)); }
  take() { this.state.set({ thread: `${this.row.value},${this.column.value}` }); }

  sentence() {
    const a = this.answer, rows = a.rows.length, columns = a.columns.length;
    const all = a.threads_m * a.threads_n === 1 ? `One ${a.level} tile is this whole block.`
      : `${digits(a.threads_m * a.threads_n)} ${a.level} tiles (${a.threads_m} × ${a.threads_n}) share this block.`;
    if (rows === 0 || columns === 0) return `${all} This one lies beyond the edge of C and reads nothing.`;
    const list = numbers => {
      const runs = runsOf(numbers, 1), told = runs.slice(0, kMostRuns);
      return told.map(([x, y]) => x === y ? `${x}` : `${x} to ${y}`).join(', ') +
        (runs.length > told.length ? ` and ${digits(runs.length - told.length)} more ranges` : '');
    };
    return `${all} This one owns ${plural(rows, 'row')} ${list(a.rows)} and ${plural(columns, 'column')} ${list(a.columns)} of the block: ${rows} × ${columns} = ${rows * columns} ${plural(rows * columns, 'accumulator')}. ` +
      (a.depth === 0 ? 'K is 0: there is no product to add.'
        : `${a.depth === 1 ? 'At the one step' : `At each of the ${digits(a.depth)} steps`} along k it reads ${rows} ${plural(rows, 'element')} of A and ${columns} of B and adds their outer product: ${rows * columns} ${plural(rows * columns, 'multiply-add')} for ${rows + columns} reads. Step ${this.k() + 1}: ${digits((rows + columns) * (this.k() + 1))} reads in this phase so far.`);
  }

  click(event) {
    const v = this.view, a = this.answer;
    if (!v || a.error) return;
    const { x, y } = this.drawing.place(event);
    const column = Math.floor((x - v.x) / v.scale), row = Math.floor((y - v.y) / v.scale);
    if (row < 0 || column < 0 || row >= a.height || column >= a.width) return;
    const owner = this.model.ask('inside', this.state.query({ at: this.place.at, phase: this.place.phase, element: `${row},${column}` }));
    if (!owner.error) this.state.set({ thread: `${owner.thread_row},${owner.thread_column}` });
  }

  draw(context, width, height, colour) {
    const a = this.answer;
    if (!a || a.error || a.depth === 0) return;
    const gap = 14, top = 16;
    const blockM = a.extents_m[0], blockN = a.extents_n[0];
    const depthPart = Math.max(a.depth, Math.max(blockM, blockN) * 0.12);
    const scale = Math.min((width - gap - 4) / (blockN + depthPart), (height - gap - top - 4) / (blockM + depthPart));
    const kScale = depthPart * scale / a.depth;
    const x = depthPart * scale + gap, y = top + depthPart * scale + gap;
    this.view = { x, y, scale };
    const boxes = (left, upper, w, h, fill) => {
      context.fillStyle = fill;
      context.fillRect(left, upper, w, h);
      context.strokeStyle = colour.line;
      context.strokeRect(left + 0.5, upper + 0.5, w - 1, h - 1);
    };
    boxes(2, y, depthPart * scale, a.height * scale, colour['a-soft']);
    boxes(x, top, a.width * scale, depthPart * scale, colour['b-soft']);
    boxes(x, y, a.width * scale, a.height * scale, colour['c-soft']);
    if (a.height < blockM || a.width < blockN) {
      context.setLineDash([4, 3]);
      context.strokeStyle = colour.wrong;
      context.strokeRect(x + 0.5, y + 0.5, blockN * scale, blockM * scale);
      context.setLineDash([]);
    }
    this.lines(context, colour, x, y, scale);
    const k = this.k();
    context.fillStyle = colour['a-past'];
    context.fillRect(2 + k * kScale, y, Math.max(kScale, 2), a.height * scale);
    context.fillStyle = colour['b-past'];
    context.fillRect(x, top + k * kScale, a.width * scale, Math.max(kScale, 2));
    const piece = Math.max(scale, 1);
    // Rectangles of elements side by side; those less than two pixels apart cannot be told apart.
    const reach = Math.max(1, 2 / scale);
    const rows = runsOf(a.rows, reach), columns = runsOf(a.columns, reach);
    const side = ([first, last]) => Math.max((last - first + 1) * scale, piece);
    context.fillStyle = colour.a;
    for (const row of rows) context.fillRect(2 + k * kScale, y + row[0] * scale, Math.max(kScale, 3), side(row));
    context.fillStyle = colour.b;
    for (const column of columns) context.fillRect(x + column[0] * scale, top + k * kScale, side(column), Math.max(kScale, 3));
    context.fillStyle = colour.c;
    for (const row of rows) for (const column of columns) context.fillRect(x + column[0] * scale, y + row[0] * scale, side(column), side(row));
    context.fillStyle = colour.text;
    context.font = '600 12px system-ui, sans-serif';
    context.fillText('tile of B', x, top - 4);
    context.fillText('tile of A', 2, y - 4);
  }

  // Edges of the tiles of each level inside the block; thin for the innermost.
  lines(context, colour, x, y, scale) {
    const a = this.answer;
    for (let level = 1; level < a.extents_m.length; level++) {
      const last = level === a.extents_m.length - 1;
      const stepM = a.extents_m[level] / (last ? a.repeat_m : 1) * scale, stepN = a.extents_n[level] / (last ? a.repeat_n : 1) * scale;
      context.strokeStyle = last ? colour.grid : colour.line;
      context.lineWidth = last ? 0.6 : 1.4;
      context.beginPath();
      if (stepN >= 3) for (let at = stepN; at < a.width * scale - 0.5; at += stepN) { context.moveTo(x + at, y); context.lineTo(x + at, y + a.height * scale); }
      if (stepM >= 3) for (let at = stepM; at < a.height * scale - 0.5; at += stepM) { context.moveTo(x, y + at); context.lineTo(x + a.width * scale, y + at); }
      context.stroke();
    }
    context.lineWidth = 1;
  }
}
