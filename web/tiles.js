// Scene 1: one tile of C through its phases. What is loaded, what shared memory holds, what the two
// barriers guard, and how much has been read.
import { Drawing, bar, bytesText, digits, element, short, table, update } from 'tilewise/draw.js';
import { plural, sentence } from 'tilewise/message.js';
import { InsideFigure } from 'tilewise/inside.js';
import { FragmentFigure } from 'tilewise/fragment.js';
import { SourcePane } from 'tilewise/source.js';

export const kMoments = ['load', 'full', 'multiply', 'empty'];
const kMomentNames = {
  load: 'Load', full: 'Barrier 1', multiply: 'Multiply', empty: 'Barrier 2',
};
const kMomentTexts = {
  load: 'The block copies a tile of A and a tile of B from global memory to shared memory.',
  full: 'The first barrier: nobody multiplies before every thread has written its part of the tiles.',
  multiply: 'Every thread reads both tiles from shared memory and adds its products.',
  empty: 'The second barrier: nobody loads the next tiles before every thread has read these.',
};
const kDirectTexts = {
  load: 'This schedule stages nothing in shared memory: every thread reads what it needs from global memory.',
  multiply: 'Every thread adds its products, without shared memory or a barrier.',
};
const kCpuTexts = {
  load: 'A CPU has no shared memory: tiles are packed into panels that the caches hold.',
  multiply: 'Each thread multiplies from its panels.',
};
// A floor as text: exact while a double is, with the digits cut after three beyond that.
function atLeast(value) {
  const whole = Math.ceil(value);
  if (Number.isSafeInteger(whole)) return digits(whole);
  const text = String(BigInt(whole));
  return `${text[0]}.${text.slice(1, 3)}e+${text.length - 1}`;
}
const kSpeeds = { slow: 900, usual: 350, fast: 80 };

export class TilesScene {
  constructor(root, state, model) {
    this.state = state;
    this.model = model;
    this.timer = null;
    this.nearest = {};
    this.figure = new Drawing('A, B and C with their tiles', (...a) => this.draw(...a), w => this.height(w));
    this.figure.canvas.addEventListener('click', event => this.click(event));
    this.caption = element('figcaption', { id: 'tiles-text' });
    this.counters = element('div', { class: 'counters' });
    this.totals = element('div', {});
    this.memory = element('div', { class: 'memory', id: 'shared-memory' });
    this.barrierText = element('p', { class: 'explain', id: 'barrier-text' });
    this.wrong = new Drawing('Outputs of this block that are wrong', (...a) => this.drawWrong(...a), 1);
    this.wrong.canvas.classList.add('small');
    this.inside = new InsideFigure(state, model);
    this.fragment = new FragmentFigure(state, model);
    this.source = new SourcePane(model);
    root.append(
      element('div', { class: 'split' },
        element('div', { class: 'stage' },
          element('h2', {}, 'One tile of C, phase by phase'),
          element('figure', {}, this.figure.canvas, this.caption),
          this.transport()),
        element('div', { class: 'side' },
          element('h2', {}, 'Reads so far'), this.counters, this.totals, this.memory)),
      element('div', { class: 'split' },
        element('div', { class: 'stage' }, element('h2', {}, 'The two barriers'), this.barriers()),
        element('div', { class: 'side' }, this.source.root)),
      this.inside.root, this.fragment.root);
  }

  transport() {
    const button = (label, text, action) => element('button', { type: 'button', 'aria-label': label, onclick: action }, text);
    this.play = button('Play', 'Play', () => this.toggle());
    this.scrub = element('input', { type: 'range', min: '0', value: '0', 'aria-label': 'Phase',
      oninput: () => this.go(Number(this.scrub.value)) });
    this.position = element('output', { class: 'position', id: 'position' });
    this.moments = element('div', { class: 'chips', role: 'radiogroup', 'aria-label': 'Moment of the phase' },
      ...kMoments.map(moment => element('label', {},
        element('input', { type: 'radio', name: 'moment', value: moment, onchange: () => this.state.set({ moment }) }),
        element('span', {}, kMomentNames[moment]))));
    this.speed = element('select', { 'aria-label': 'Speed', onchange: () => { this.state.set({ speed: this.speed.value }); this.restart(); } },
      ...Object.keys(kSpeeds).map(name => element('option', { value: name }, name)));
    this.row = element('input', { inputmode: 'numeric', size: '4', 'aria-label': 'Row of the tile of C',
      onchange: () => this.state.set({ at: `${this.row.value},${this.column.value}`, phase: null, moment: null }) });
    this.column = element('input', { inputmode: 'numeric', size: '4', 'aria-label': 'Column of the tile of C',
      onchange: () => this.state.set({ at: `${this.row.value},${this.column.value}`, phase: null, moment: null }) });
    return this.controls = element('div', { class: 'transport' },
      element('div', { class: 'row' },
        button('Previous phase', '◀', () => this.step(-1)), this.play, button('Next phase', '▶', () => this.step(1)),
        this.scrub, this.position),
      element('div', { class: 'row' }, this.moments,
        element('label', { class: 'speed' }, 'speed ', this.speed),
        element('span', { class: 'at' }, 'tile of C ', this.row, ' , ', this.column)));
  }

  barriers() {
    const choice = (value, text) => element('label', {},
      element('input', { type: 'radio', name: 'without', value, onchange: () => this.state.set({ without: value === 'none' ? null : value }) }),
      element('span', {}, text));
    this.barrierChoice = element('div', { class: 'chips', role: 'radiogroup', 'aria-label': 'Which barriers the kernel has' },
      choice('none', 'Both barriers'), choice('full', 'Without the first'), choice('empty', 'Without the second'));
    return element('div', {}, this.barrierChoice, element('div', { class: 'row barriers' }, this.wrong.canvas, this.barrierText));
  }

  // ---- State

  show(count) {
    this.count = count;
    this.nearest = {};
    const asked = count.error ? count : this.model.ask('step', this.state.query(this.place()));
    // A place that does not exist: its message, and the nearest one that does.
    const lost = asked.error && !count.error;
    if (lost) this.nearest = this.nearestPlace(count);
    const step = lost ? this.model.ask('step', this.state.query(this.place())) : asked;
    this.step_ = step;
    if (asked.error) this.stop();
    this.caption.textContent = step.error ? sentence(step.error) : (asked.error ? `${sentence(asked.error)} The nearest is shown. ` : '') + this.sentence(step);
    this.controls.hidden = Boolean(step.error);  // there is no tile
    if (step.error) {
      this.counters.replaceChildren();
      this.totals.replaceChildren();
      this.memory.replaceChildren();
    } else {
      this.showTransport(step);
      this.showCounters(step);
      this.showMemory(step);
    }
    this.showBarriers();
    this.source.show(count, this.moment(), this.state.query());
    this.inside.show(count, this.place());
    this.fragment.show(count);
    this.figure.redraw();
  }

  // Without shared memory there is no barrier to stop at.
  momentsHere() { return this.count?.error || this.count?.staged ? kMoments : ['load', 'multiply']; }
  asked() {
    const moment = this.state.get('moment'), before = moment === 'full' ? 'load' : moment === 'empty' ? 'multiply' : null;
    return before && !this.momentsHere().includes(moment) ? before : moment;
  }
  moment() { return kMoments.includes(this.asked()) ? this.asked() : 'load'; }
  place() {
    return { at: this.state.get('at'), phase: this.state.get('phase'), moment: this.asked(), ...this.nearest };
  }
  nearestPlace(count) {
    const within = (text, number) => String(Math.min(Math.max(0, parseInt(text, 10) || 0), Math.max(0, number - 1)));
    const [row, column] = this.state.get('at').split(',');
    return { at: `${within(row, count.tiles_m)},${within(column, count.tiles_n)}`, phase: within(this.state.get('phase'), count.phases), moment: this.moment() };
  }

  showTransport(step) {
    this.scrub.max = String(Math.max(0, this.count.phases - 1));
    this.scrub.value = String(step.phase);
    this.position.textContent = this.count.phases === 0 ? 'K is 0: no phase'
      : `phase ${digits(step.phase + 1)} of ${digits(this.count.phases)}`;
    for (const choice of this.moments.querySelectorAll('input')) {
      choice.parentElement.hidden = !this.momentsHere().includes(choice.value);
      choice.checked = choice.value === step.moment;
    }
    this.speed.value = this.state.choice('speed', kSpeeds, 'usual');
    if (!this.state.typing(this.row)) this.row.value = step.row;
    if (!this.state.typing(this.column)) this.column.value = step.column;
  }

  sentence(step) {
    const c = this.count;
    if (c.phases === 0) return 'K is 0: no phase loads anything, and the accumulators stay 0.';
    const range = (what, x, y) => y - x === 1 ? `${what} ${digits(x)}` : `${what}s ${digits(x)} to ${digits(y - 1)}`;
    const rows = range('row', step.m_begin, step.m_end), columns = range('column', step.n_begin, step.n_end);
    const edges = [step.m_end - step.m_begin < c.tile_m && 'bottom', step.n_end - step.n_begin < c.tile_n && 'right'].filter(Boolean);
    const ragged = edges.length ? ` cut at the ${edges.join(' and the ')} edge` : '';
    const where = `Tile ${step.row}, ${step.column} of ${digits(c.tiles_m)} × ${digits(c.tiles_n)}${ragged}: ${rows} and ${columns} of C.`;
    const phase = `Phase ${digits(step.phase + 1)} of ${digits(c.phases)} needs ${range('column', step.k_begin, step.k_end)} of A and the same ${plural(step.k_end - step.k_begin, 'row')} of B: ${digits(step.load_a)} + ${digits(step.load_b)} elements.`;
    return `${where} ${phase} ${(c.staged ? kMomentTexts : c.device === 'cpu' ? kCpuTexts : kDirectTexts)[step.moment]}`;
  }

  showCounters(step) {
    const naive = step.tile.naive, levels = step.tile.levels;
    const total = Number(naive);
    const rows = [bar('naive kernel', total, total, digits(naive), 'naive')];
    for (const level of levels) {
      const name = level.reads_from === 'global' || level.reads_from === 'dram' ? `${level.level}: global` : `${level.level}: ${level.reads_from}`;
      const meter = bar(name, Number(level.reads), Math.max(total, 1), digits(level.reads), level.reads_from);
      meter.dataset.level = level.level;
      rows.push(meter);
    }
    update(this.counters, element('h3', {}, 'By this tile: elements of A and B'), ...rows);
    this.showTotals(step);
  }

  showTotals(step) {
    const c = this.count, size = c.element_bytes;
    const product = step.product;
    const soFar = i => product ? digits(product.levels[i].reads) : 'not counted';
    const rows = [['naive', product ? digits(product.naive) : 'not counted', digits(c.naive), bytesText(Number(c.naive) * size)]];
    c.levels.forEach((level, i) => rows.push([`${level.level} ← ${level.reads_from}`, soFar(i), digits(level.reads), bytesText(Number(level.reads) * size)]));
    rows.push(['minimum', '', digits(c.minimum), bytesText(Number(c.minimum) * size)]);
    rows.push(['lower bound', '', c.bound_bytes === null ? 'not known here' : '≥ ' + atLeast(c.bound_bytes / size), c.bound_bytes === null ? '' : bytesText(c.bound_bytes)]);
    const part = step.ways > 1 ? ` K is split in ${step.ways}, and all tiles pass one part before the first passes the next.` : '';
    const place = product ? `This is block ${digits(step.index + 1)} of ${digits(Number(c.blocks) * step.ways)} in launch order.${part} `
      : step.stream_k ? 'The blocks before this moment are not counted: stream-K deals the steps of all tiles out in equal ranges, which begin and end inside tiles. '
      : `The blocks before this one are not counted: C has ${digits(c.blocks)}, and the launch order is walked for at most ${digits(step.most_walked)}. Take a larger block or a smaller C. `;
    const note = element('p', { class: 'explain' }, place +
      `The naive kernel reads global memory ${short(Number(c.naive) / Math.max(1, Number(c.tiled)))} times as often. The minimum reads each element once; the lower bound holds for every schedule with the registers and shared memory of ${c.machine}.`);
    update(this.totals, table('totals', 'Whole product', ['reads', 'up to this moment', 'in the end', 'in bytes'], rows), note);
  }

  // What the two buffers of shared memory hold at this moment, and who may touch them.
  showMemory(step) {
    const c = this.count;
    if (!c.staged || c.phases === 0) {
      this.memory.replaceChildren();
      return;
    }
    const states = {
      load: ['writing', 'being written, element by element'], full: ['guarded', 'whole, once every thread is at the barrier'],
      multiply: ['reading', 'read by every thread'], empty: ['guarded', 'free, once every thread is at the barrier'],
    };
    const [kind, text] = states[step.moment];
    const range = (x, y) => `${digits(x)}:${digits(y)}`;
    const box = (name, rows, columns, elements) => element('div', { class: `buffer ${name.toLowerCase()} ${kind}` },
      element('strong', {}, `${name}[${rows}, ${columns}]`), element('span', {}, `${digits(elements)} ${plural(Number(elements), 'element')}, ${bytesText(Number(elements) * c.element_bytes)}`));
    const k = range(step.k_begin, step.k_end);
    update(this.memory, element('h3', {}, 'Shared memory now'),
      element('div', { class: 'buffers' }, box('A', range(step.m_begin, step.m_end), k, step.load_a), box('B', k, range(step.n_begin, step.n_end), step.load_b)),
      element('p', { class: 'explain' }, `Both tiles are ${text}.` + (c.stages > 1 ? ` ${c.stages} stages: while these are multiplied, the tiles of the next ${c.stages - 1 === 1 ? 'phase' : `${c.stages - 1} phases`} arrive in other buffers.` : '')));
  }

  // ---- Barriers

  showBarriers() {
    const without = ['full', 'empty'].includes(this.state.get('without')) ? this.state.get('without') : 'none';
    this.barrierChoice.hidden = !this.count.error && !this.count.staged;
    this.barrierChoice.querySelector(`[value=${without}]`).checked = true;
    if (this.count.error) {
      this.barrier = this.barrierAnswer = null;
      return;
    }
    const answer = this.barrierRun(without);
    if (answer === this.barrierAnswer) return;
    this.barrierAnswer = answer;
    this.barrier = answer.error ? null : answer;
    this.wrong.canvas.hidden = !this.barrier;
    this.barrierText.textContent = answer.error ? sentence(answer.error) : this.barrierSentence(answer, without) + (this.count.stages > 1
      ? ` This schedule has ${this.count.stages} stages: the next tiles go to other buffers, so one barrier a phase is enough. The run shown here has one buffer.` : '');
    this.wrong.redraw();
  }

  // What the simulator says; with both barriers, where a phase has them, there is nothing to run.
  barrierRun(without) {
    const s = this.step_;
    if (without !== 'none' || s.error || !this.count.staged || this.count.phases === 0) {
      return this.model.ask('barriers', this.state.query({ at: this.likeTile(), without }));
    }
    return { height: s.m_end - s.m_begin, width: s.n_end - s.n_begin, wrong: '' };
  }
  // The first tile with as many rows and columns as the chosen one: all of them go wrong alike.
  likeTile() {
    const c = this.count, s = this.step_;
    if (s.error) return this.place().at;
    return `${s.m_end - s.m_begin === c.tile_m ? 0 : s.row},${s.n_end - s.n_begin === c.tile_n ? 0 : s.column}`;
  }

  barrierSentence(answer, without) {
    const outputs = digits(answer.height * answer.width);
    if (without === 'none') {
      const one = answer.height * answer.width === 1;
      return `With both barriers ${one ? 'the one output of this tile is' : `all ${outputs} outputs of this tile are`} right. Take one away, and the simulator runs the first phases without it.`;
    }
    if (answer.wrong_elements === 0) {
      return answer.phases === 1 && without === 'empty'
        ? 'K has one phase: no tile is loaded over another, so the second barrier guards nothing here.'
        : 'This barrier guards nothing here: the warp that holds all outputs of this tile also copies every element that they need.';
    }
    return `Without the ${without === 'full' ? 'first' : 'second'} barrier, under the worst order of the warps: ${digits(answer.wrong_elements)} of ${outputs} ${plural(answer.height * answer.width, 'output')} ${plural(answer.wrong_elements, 'is', 'are')} wrong, by up to ${short(answer.max_error)}. ${answer.first_fault}${answer.first_fault ? '.' : ''}`;
  }

  drawWrong(context, width, height, colour) {
    const b = this.barrier;
    if (!b) return;
    const scale = Math.min(width / b.width, height / b.height);
    context.fillStyle = colour.right;
    context.fillRect(0, 0, b.width * scale, b.height * scale);
    context.fillStyle = colour.wrong;
    for (let i = 0; i < b.height; i++) {
      let from = -1;
      for (let j = 0; j <= b.width; j++) {
        const wrong = j < b.width && b.wrong.charCodeAt(i * b.width + j) === 49;
        if (wrong && from < 0) from = j;
        if (!wrong && from >= 0) {
          context.fillRect(from * scale, i * scale, (j - from) * scale, Math.ceil(scale));
          from = -1;
        }
      }
    }
    context.strokeStyle = colour.line;
    context.strokeRect(0.5, 0.5, b.width * scale - 1, b.height * scale - 1);
  }

  // ---- Moving

  go(phase) { this.state.set({ ...this.nearest, phase: String(phase) }); }
  step(by) {
    if (this.step_?.error || !this.count || this.count.error) return;
    const phase = Math.min(Math.max(0, this.step_.phase + by), Math.max(0, this.count.phases - 1));
    this.state.set({ ...this.nearest, phase: String(phase), moment: by < 0 || phase !== this.step_.phase ? null : this.state.get('moment') });
  }
  stepMoment(by) {
    if (this.step_?.error || this.count.error) return false;
    const moments = this.momentsHere(), each = moments.length;
    const at = this.step_.phase * each + moments.indexOf(this.moment()) + by;
    if (at < 0 || at >= this.count.phases * each) return false;
    this.state.set({ ...this.nearest, phase: String(Math.floor(at / each)), moment: moments[at % each] });
    return true;
  }
  moveTile(rows, columns) {
    const s = this.step_, c = this.count;
    if (s?.error || c.error) return;
    const row = Math.min(Math.max(0, s.row + rows), c.tiles_m - 1);
    const column = Math.min(Math.max(0, s.column + columns), c.tiles_n - 1);
    this.state.set({ ...this.nearest, at: `${row},${column}` });
  }
  toggle() { this.timer === null ? this.restart(true) : this.stop(); }
  restart(from) {
    if (this.timer === null && !from) return;
    clearInterval(this.timer);
    this.timer = setInterval(() => { if (!this.stepMoment(1)) this.stop(); }, kSpeeds[this.state.choice('speed', kSpeeds, 'usual')]);
    this.play.textContent = 'Pause';
    this.play.setAttribute('aria-label', 'Pause');
  }
  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = 'Play';
    this.play.setAttribute('aria-label', 'Play');
  }
  key(event) {
    const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.shiftKey && arrows[event.key]) this.moveTile(...arrows[event.key]);
    else if (event.key === 'ArrowRight') this.step(1);
    else if (event.key === 'ArrowLeft') this.step(-1);
    else if (event.key === '.') this.stepMoment(1);
    else if (event.key === ',') this.stepMoment(-1);
    else if (event.key === ' ') this.toggle();
    else return false;
    return true;
  }
  click(event) {
    if (!this.view || this.count.error) return;
    const { x, y } = this.figure.place(event), v = this.view;
    const column = Math.floor((x - v.cx) / v.sx / this.count.tile_n), row = Math.floor((y - v.cy) / v.sy / this.count.tile_m);
    const inside = x >= v.cx && y >= v.cy && row >= 0 && column >= 0 && row < this.count.tiles_m && column < this.count.tiles_n;
    if (inside) this.state.set({ at: `${row},${column}`, phase: null, moment: null });
  }

  // ---- Drawing: A at the left, B above, C where they meet; one scale where it can be drawn so.

  height(width) {
    const c = this.count;
    if (!c || c.error) return 120;
    return Math.round(Math.min(Math.max(width * this.proportions(width).heightOverWidth, 180), Math.max(280, innerHeight / this.figure.unit * 0.62)));
  }
  proportions() {
    const least = 0.12;  // of the largest: a thin matrix stays visible, and the caption says so
    const { m, n, k } = this.count;
    const largest = Math.max(m, n, k, 1);
    const part = x => Math.max(x / largest, least);
    return { m: part(m), n: part(n), k: part(k), toScale: Math.min(m, n, k) / largest >= least,
      heightOverWidth: (part(k) + part(m) + 0.08) / (part(k) + part(n) + 0.08) };
  }

  draw(context, width, height, colour) {
    const c = this.count, s = this.step_;
    this.view = null;
    if (!c || c.error || !s || s.error) return;
    const part = this.proportions(), margin = 22, gap = 26;
    const unit = Math.min((width - 2 * margin - gap) / (part.k + part.n), (height - 2 * margin - gap) / (part.k + part.m));
    const kLength = part.k * unit, w = part.n * unit, h = part.m * unit;
    const x0 = Math.max(margin, (width - kLength - gap - w) / 2), y0 = margin;
    const cx = x0 + kLength + gap, cy = y0 + kLength + gap;
    const sx = w / Math.max(c.n, 1), sy = h / Math.max(c.m, 1), sk = kLength / Math.max(c.k, 1);
    this.view = { cx, cy, sx, sy };
    const matrix = (x, y, mw, mh, sxx, syy, rows, columns, tileRows, tileColumns, name, fill, room = width - x) => {
      context.fillStyle = fill;
      context.fillRect(x, y, mw, mh);
      this.grid(context, x, y, mw, mh, syy * tileRows, sxx * tileColumns, colour.grid);
      context.strokeStyle = colour.line;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, mw - 1, mh - 1);
      context.fillStyle = colour.text;
      context.font = '600 13px system-ui, sans-serif';
      const label = `${name}  ${digits(rows)} × ${digits(columns)}`;
      context.fillText(context.measureText(label).width <= room ? label : name, x, y - 7);
    };
    matrix(x0, cy, kLength, h, sk, sy, c.m, c.k, c.tile_m, c.tile_k, 'A', colour['a-soft'], kLength + gap - 8);
    matrix(cx, y0, w, kLength, sx, sk, c.k, c.n, c.tile_k, c.tile_n, 'B', colour['b-soft']);
    matrix(cx, cy, w, h, sx, sy, c.m, c.n, c.tile_m, c.tile_n, 'C', colour['c-soft']);

    const rect = (x, y, rw, rh, fill, stroke, dash) => {
      const bw = Math.max(rw, 2.5), bh = Math.max(rh, 2.5);
      if (fill) { context.fillStyle = fill; context.fillRect(x, y, bw, bh); }
      if (stroke) {
        context.strokeStyle = stroke;
        context.lineWidth = 2;
        context.setLineDash(dash ?? []);
        context.strokeRect(x, y, bw, bh);
        context.setLineDash([]);
      }
    };
    const my = cy + s.m_begin * sy, mh = (s.m_end - s.m_begin) * sy;
    const nx = cx + s.n_begin * sx, nw = (s.n_end - s.n_begin) * sx;
    // What this tile has read before, what it needs in all, what this phase loads.
    rect(x0, my, kLength, mh, colour['a-band']);
    rect(nx, y0, nw, kLength, colour['b-band']);
    rect(x0, my, s.k_begin * sk, mh, colour['a-past']);
    rect(nx, y0, nw, s.k_begin * sk, colour['b-past']);
    if (c.phases > 0) {
      rect(x0 + s.k_begin * sk, my, (s.k_end - s.k_begin) * sk, mh, colour.a, colour.text);
      rect(nx, y0 + s.k_begin * sk, nw, (s.k_end - s.k_begin) * sk, colour.b, colour.text);
    }
    const done = c.phases > 0 ? (s.phase + (['multiply', 'empty'].includes(s.moment) ? 1 : 0)) / c.phases : 1;
    rect(nx, my, nw, mh, colour['c-band']);
    rect(nx, my + mh * (1 - done), nw, mh * done, colour.c);
    rect(nx, my, nw, mh, null, colour.text);
    // A ragged edge: the part of the tile that lies outside, zero-filled by the kernel.
    const fullW = c.tile_n * sx, fullH = c.tile_m * sy;
    if (nw < fullW - 0.5 || mh < fullH - 0.5) rect(nx, my, Math.min(fullW, width - nx - 2), Math.min(fullH, height - my - 2), null, colour.wrong, [4, 3]);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour.muted;
    if (!part.toScale) context.fillText('thin sides drawn wider than to scale', x0, height - 6);
    // The join: which two tiles meet in this one.
    context.strokeStyle = colour.muted;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(x0 + kLength, my + mh / 2);
    context.lineTo(nx, my + mh / 2);
    context.moveTo(nx + nw / 2, y0 + kLength);
    context.lineTo(nx + nw / 2, cy - 20);
    context.moveTo(nx + nw / 2, cy);
    context.lineTo(nx + nw / 2, my);
    context.stroke();
    context.setLineDash([]);
  }

  // Lines between tiles where they can be told apart; of each so many where they cannot.
  grid(context, x, y, width, height, stepY, stepX, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 0.5;
    context.beginPath();
    if (stepX >= 4) for (let at = stepX; at < width - 0.5; at += stepX) { context.moveTo(x + at, y); context.lineTo(x + at, y + height); }
    if (stepY >= 4) for (let at = stepY; at < height - 0.5; at += stepY) { context.moveTo(x, y + at); context.lineTo(x + width, y + at); }
    context.stroke();
  }
}
