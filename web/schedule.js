// Scene 2: the schedule as a form, and what follows from it: counts by level, what a block takes of an
// SM, waves with their tail, the roofline, the time by resource.
import { Drawing, bar, bytesText, digits, element, short, svg, table } from 'tilewise/draw.js';

// The fields of the form. Each reads and writes one part of the schedule's query.
const kTileFields = [
  ['block', 'block m × n × k', 'block', 3], ['warp', 'warp m × n', 'warp', 2],
  ['thread', 'thread m × n', 'thread', 2], ['instruction', 'instruction m × n × k', 'instruction', 3],
];
const kFields = [
  ['stages', 'stages', ['1', '2', '3', '4', '5', '6', '8']],
  ['copy', 'copy to shared memory', ['direct', 'cp_async', 'bulk']],
  ['layout', 'shared layout', ['plain', 'pad:1', 'pad:4', 'pad:8', 'swizzle:32', 'swizzle:64', 'swizzle:128']],
  ['order', 'launch order', ['row', 'column', 'grouped:4', 'grouped:8', 'grouped:12', 'grouped:16', 'serpentine:8', 'hilbert']],
  ['cluster', 'cluster of blocks', ['1x1', '2x1', '1x2', '2x2']],
  ['split', 'K split', ['1', '2', '4', '8', '16']],
  ['vector', 'bytes an access: global, A, B', ['4,4,4', '4,16,16', '16,4,4', '16,16,16']],
];

export class ScheduleScene {
  constructor(root, state, model) {
    this.state = state;
    this.model = model;
    this.tiles = {};
    this.fields = {};
    this.touched = null;
    this.form = this.makeForm();
    this.result = element('div', { class: 'side results' });
    this.counts = element('div', {});
    this.meters = element('div', {});
    this.time = element('div', {});
    this.roof = element('figure', {});
    this.waves = new Drawing('Blocks on SMs, wave by wave', (...a) => this.drawWaves(...a), () => this.wavesHeight());
    this.wavesText = element('figcaption', { id: 'waves-text' });
    this.fits = element('div', {},
      element('h3', {}, 'One block on an SM'), this.meters,
      element('h3', {}, 'Waves'), element('figure', {}, this.waves.canvas, this.wavesText),
      element('h3', {}, 'Roofline'), this.roof,
      element('h3', {}, 'Time by resource'), this.time);
    this.result.append(this.counts, this.fits);
    root.append(element('div', { class: 'split editor' }, element('div', { class: 'stage' }, element('h2', {}, 'Schedule'), this.form), this.result));
  }

  makeForm() {
    const form = element('form', { class: 'fields', 'aria-label': 'Schedule', onsubmit: event => event.preventDefault() });
    const line = (name, label, control) => {
      const error = element('p', { class: 'field-error', id: `error-${name}`, hidden: true });
      control.id = `field-${name}`;
      control.setAttribute('aria-describedby', error.id);
      form.append(element('div', { class: 'field' }, element('label', { for: control.id }, label), control, error));
      return { control, error };
    };
    for (const [name, label] of kTileFields) {
      const control = element('input', { autocomplete: 'off', placeholder: 'not tiled', onchange: () => this.takeTiles(name) });
      this.tiles[name] = line(name, label, control);
    }
    for (const [name, label, values] of kFields) {
      const control = element('select', { onchange: () => { this.touched = name; this.state.set({ [name]: control.value }); } },
        ...values.map(value => element('option', {}, value)));
      this.fields[name] = line(name, label, control);
    }
    this.reset = element('button', { type: 'button', onclick: () => { this.touched = null; this.state.takeSchedule(this.state.get('schedule', 'square_tile')); } }, 'Undo all changes');
    form.append(this.reset, element('p', { class: 'explain' }, 'thread 8x8/2x2 is an 8 × 8 tile in 2 × 2 strided pieces.'));
    return form;
  }

  // The four texts of tiles, as the query writes them.
  takeTiles(name) {
    this.touched = name;
    const tiles = [];
    for (const [field, , level] of kTileFields) {
      const text = this.tiles[field].control.value.trim().replace(/\s*[×x*]\s*/g, 'x');
      if (text !== '') tiles.push(`${level}:${text.replace(/^(\d+)x(\d+)(\/|$)/, '$1x$2x0$3')}`);
    }
    this.state.set({ tile: tiles.length ? tiles : ['none'], at: null, phase: null, thread: null });
  }

  // The schedule in force, as names and texts: the named one with the address's changes over it.
  inForce() {
    const named = this.model.names.schedules.find(s => s.name === this.state.get('schedule', 'square_tile'));
    const query = new URLSearchParams(named?.query ?? '');
    if (this.state.items.has('tile')) {
      query.delete('tile');
      for (const tile of this.state.items.getAll('tile')) query.append('tile', tile);
    }
    for (const [name] of kFields) if (this.state.items.has(name)) query.set(name, this.state.get(name));
    return query;
  }

  fill() {
    const query = this.inForce();
    const tiles = Object.fromEntries(query.getAll('tile').filter(t => t.includes(':')).map(t => t.split(/:(.*)/s)));
    for (const [field, , level, sizes] of kTileFields) {
      const { control } = this.tiles[field];
      if (control.matches(':focus')) continue;
      const text = tiles[level] ?? '';
      control.value = sizes === 2 ? text.replace(/^(\d+x\d+)x0/, '$1') : text;
    }
    const usual = { stages: '1', copy: 'direct', layout: 'plain', order: 'row', cluster: '1x1', split: '1', vector: '0,0,0' };
    for (const [name] of kFields) {
      const { control } = this.fields[name];
      let value = query.get(name) ?? usual[name];
      if (name === 'order') value = value.replace(/^(row|column|hilbert):.*/, '$1').replace(/:m$/, '');
      if (name === 'split') value = value.replace(/:second_pass$/, '');
      if (![...control.options].some(option => option.value === value)) control.append(element('option', {}, value));
      control.value = value;
    }
    this.reset.disabled = !this.state.edited();
  }

  showError(message) {
    const all = { ...this.tiles, ...this.fields };
    for (const { control, error } of Object.values(all)) {
      error.hidden = true;
      control.removeAttribute('aria-invalid');
    }
    if (!message) return;
    const at = all[this.touched] ?? all[this.mentioned(message)] ?? all.block;
    at.error.textContent = message.replace(/^explain: /, '');
    at.error.hidden = false;
    at.control.setAttribute('aria-invalid', 'true');
  }
  mentioned(message) {
    if (/registers|threads/.test(message)) return 'thread';
    if (/stages|shared memory/.test(message)) return 'stages';
    return [...kTileFields, ...kFields].map(f => f[0]).find(name => message.includes(name));
  }

  show(count) {
    this.fill();
    const e = count.error ? count : this.model.ask('estimate', this.state.query());
    this.estimate = e;
    this.showError(e.error);
    this.fits.hidden = Boolean(e.error);
    this.result.hidden = Boolean(count.error);
    if (count.error) return;
    this.showCounts(count);
    if (e.error) return;
    this.showMeters(e);
    this.showTime(e);
    this.showRoof(e);
    this.wavesText.textContent = this.wavesSentence(e);
    this.waves.redraw();
  }

  showCounts(count) {
    const size = count.element_bytes;
    const rows = count.levels.map(level => [`${level.level} ← ${level.reads_from}`, [level.m, level.n, level.k].map(x => x || '·').join(' × '),
      digits(level.reads), bytesText(Number(level.reads) * size), `${short(level.reuse_a)} / ${short(level.reuse_b)}`, short(level.intensity)]);
    rows.push(['naive', '', digits(count.naive), bytesText(Number(count.naive) * size), '1 / 1', short(1 / size)]);
    rows.push(['minimum', '', digits(count.minimum), bytesText(Number(count.minimum) * size), '', '']);
    this.counts.replaceChildren(table('Reads by level', ['level', 'tile', 'elements', 'bytes', 'reuse of A / B', 'FLOP/byte'], rows));
    this.counts.querySelector('table').id = 'level-counts';
  }

  showMeters(e) {
    if (!e.block) {
      this.meters.replaceChildren(element('p', { class: 'explain' }, `${e.title} is a CPU: blocks, SMs and occupancy do not apply.`));
      return;
    }
    const { block: b, limits: l, occupancy: o } = e;
    const warps = Math.ceil(b.threads / 32);
    this.meters.replaceChildren(
      bar('shared memory', b.shared_bytes, l.shared_bytes, `${digits(b.shared_bytes)} of ${digits(l.shared_bytes)} bytes a block`),
      bar('registers', b.registers_per_thread, l.registers_per_thread, `about ${b.registers_per_thread} of ${l.registers_per_thread} a thread`),
      bar('threads', b.threads, l.threads, `${digits(b.threads)} of ${digits(l.threads)} a block (${warps} warps)`),
      bar('occupancy', o.occupancy, 1, `${short(100 * o.occupancy)} %: ${o.blocks_per_sm} block${o.blocks_per_sm === 1 ? '' : 's'} an SM`),
      element('p', { class: 'explain', id: 'occupancy-text' },
        `Limited by ${o.limiter}. Blocks an SM by each limit alone: registers ${o.by_registers}, shared memory ${o.by_shared}, warps ${o.by_warps}, blocks ${o.by_blocks}. How: ${b.formula}.`));
  }

  showTime(e) {
    const longest = Math.max(...e.terms.map(t => t.time_us), 0);
    const rows = e.terms.map(t => {
      const meter = bar(t.name, t.time_us, longest, `${short(t.time_us)} µs`, t.name === e.limiter ? 'limiter' : '');
      meter.title = t.how;
      return meter;
    });
    const sentence = e.time_us === null ? 'No rate of this machine is known, so no time is estimated.'
      : `About ${short(e.time_us)} µs, ${short(e.tflops)} TFLOP/s of ${short(e.peak_tflops)}: limited by ${e.limiter}. All terms are taken to overlap, so the largest is the estimate.`;
    this.time.replaceChildren(element('p', { id: 'time-text' }, sentence), ...rows,
      ...e.notes.map(note => element('p', { class: 'explain' }, note)));
  }

  wavesSentence(e) {
    if (!e.block) return '';
    const w = e.waves, slots = e.units * e.occupancy.blocks_per_sm;
    const tail = Number(w.tiles) % slots;
    return `${digits(w.tiles)} blocks over ${e.units} SMs × ${e.occupancy.blocks_per_sm} are ${short(w.fraction)} waves, so ${digits(w.waves)}: ${short(100 * w.efficiency)} % of the slots work. ` +
      (Number(w.tiles) === 0 ? '' : tail === 0 ? 'The last wave is full.' : `The last wave holds ${digits(tail)} of ${digits(slots)} blocks; the other slots idle.`) +
      (e.padding_efficiency === 1 ? ' No product is padding.' : ` ${short(100 * e.padding_efficiency)} % of the products are useful, the rest is padding.`);
  }
  wavesHeight() { return this.estimate?.block ? Math.min(this.estimate.units * 1.4, 220) + 18 : 20; }

  // A row an SM, a column a wave; the last 12 waves where there are more.
  drawWaves(context, width, height, colour) {
    const e = this.estimate;
    if (!e || e.error || !e.block || Number(e.waves.tiles) === 0) return;
    const waves = Number(e.waves.waves), tiles = Number(e.waves.tiles), each = e.occupancy.blocks_per_sm;
    const slots = e.units * each, shown = Math.min(waves, 12), first = waves - shown;
    const left = first > 0 ? 60 : 0, w = (width - left) / shown, h = (height - 18) / e.units;
    const tail = tiles - (waves - 1) * slots;
    for (let i = 0; i < shown; i++) {
      const wave = first + i, filled = wave === waves - 1 ? tail : slots;
      for (let sm = 0; sm < e.units; sm++) {
        for (let slot = 0; slot < each; slot++) {
          const busy = slot * e.units + sm < filled;
          context.fillStyle = busy ? (i % 2 ? colour.a : colour['a-past']) : colour.idle;
          context.fillRect(left + i * w + slot * w / each + 0.5, sm * h, w / each - 1, Math.max(h - 0.3, 0.5));
        }
      }
      context.fillStyle = colour.text;
      context.font = '11px system-ui, sans-serif';
      context.fillText(`wave ${digits(wave + 1)}`, left + i * w + 2, height - 5);
    }
    context.fillStyle = colour.muted;
    if (first > 0) context.fillText(`${digits(first)} full`, 2, height / 2);
  }

  showRoof(e) {
    const points = [...e.levels.map(l => ({ ...l, shape: 'circle', name: `${l.level} ← ${l.reads_from}` })),
      ...e.memories.map(l => ({ ...l, shape: 'square', name: l.level.toUpperCase() }))].filter(l => l.intensity > 0);
    if (!e.peak_tflops || points.length === 0) {
      this.roof.replaceChildren(element('figcaption', {}, 'No peak is known for this machine, or nothing is multiplied.'));
      return;
    }
    this.roof.replaceChildren(roofline(points, e), element('figcaption', { id: 'roof-text' },
      `${e.peak} peak ${short(e.peak_tflops)} TFLOP/s. ` + points.map(p =>
        `${p.name}: ${short(p.intensity)} FLOP a byte${p.ridge ? `, ridge ${short(p.ridge)}, so ${p.intensity < p.ridge ? 'its bandwidth limits' : 'arithmetic can be fed'}` : ''}`).join('. ') + '.'));
  }
}

// Logarithmic axes: FLOP a byte across, TFLOP/s up; a slope for each memory whose ridge is known.
function roofline(points, e) {
  const width = 560, height = 300, left = 54, right = 26, top = 16, bottom = 40;
  const all = points.flatMap(p => [p.intensity, p.ridge]).filter(x => x > 0);
  const lowX = Math.floor(Math.log10(Math.min(...all, 1)) - 0.1), highX = Math.ceil(Math.log10(Math.max(...all, 10)) + 0.1);
  const highY = Math.ceil(Math.log10(e.peak_tflops) + 0.05), lowY = highY - 4;
  const x = v => left + (Math.log10(v) - lowX) / (highX - lowX) * (width - left - right);
  const y = v => height - bottom - Math.min(1, Math.max(0, (Math.log10(v) - lowY) / (highY - lowY))) * (height - top - bottom);
  const parts = [];
  const text = (tx, ty, content, anchor = 'middle', kind = 'tick') => parts.push(svg('text', { x: tx, y: ty, 'text-anchor': anchor, class: kind }, content));
  const line = (x1, y1, x2, y2, kind) => parts.push(svg('line', { x1, y1, x2, y2, class: kind }));
  for (let p = lowX; p <= highX; p++) {
    line(x(10 ** p), top, x(10 ** p), height - bottom, 'gridline');
    text(x(10 ** p), height - bottom + 16, digits(Number((10 ** p).toPrecision(1))));
  }
  for (let p = lowY; p <= highY; p++) {
    line(left, y(10 ** p), width - right, y(10 ** p), 'gridline');
    text(left - 6, y(10 ** p) + 4, digits(Number((10 ** p).toPrecision(1))), 'end');
  }
  text((left + width - right) / 2, height - 6, 'FLOP a byte', 'middle', 'axis');
  text(left + 4, 12, 'TFLOP/s', 'start', 'axis');
  line(left, y(e.peak_tflops), width - right, y(e.peak_tflops), 'roof');
  const seen = new Set();
  for (const p of points) {
    const key = p.ridge && p.ridge.toPrecision(6);
    if (!p.ridge || seen.has(key)) continue;
    seen.add(key);
    const start = Math.max(10 ** lowX, p.ridge * 10 ** lowY / e.peak_tflops);
    line(x(start), y(e.peak_tflops * start / p.ridge), x(p.ridge), y(e.peak_tflops), 'slope');
  }
  // Points that would lie on each other share one mark.
  const marks = [];
  points.forEach((p, i) => {
    const reach = p.ridge ? Math.min(e.peak_tflops, e.peak_tflops * p.intensity / p.ridge) : e.peak_tflops;
    const px = x(p.intensity), py = y(reach);
    const there = marks.find(mark => Math.hypot(mark.px - px, mark.py - py) < 14);
    if (there) there.numbers.push(i + 1);
    else marks.push({ px, py, shape: p.shape, numbers: [i + 1] });
    text(width - right - 4, height - bottom - 10 - 15 * (points.length - 1 - i), `${i + 1}  ${p.name}`, 'end', 'label');
  });
  for (const { px, py, shape, numbers } of marks) {
    const half = 5 + 4.5 * numbers.length;
    parts.push(svg('rect', { x: px - half, y: py - 9, width: 2 * half, height: 18, rx: shape === 'circle' ? 9 : 2, class: `point ${shape}` }));
    text(px, py + 4, numbers.join(','), 'middle', 'number');
  }
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Roofline', class: 'roofline' }, ...parts);
}
