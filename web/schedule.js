// Scene 2: the schedule as a form, and what follows from it: counts by level, what a block takes of an
// SM, waves with their tail, the roofline, the time by resource.
import { refusalOf } from 'tilewise/model.js';
import { kCustom } from 'tilewise/state.js';
import { ended, plain, plural, sentence } from 'tilewise/message.js';
import { Drawing, bar, bytesText, digits, element, short, svg, table, update } from 'tilewise/draw.js';

// Levels of tiling by device: level, label, extents that it has.
const kLevels = {
  gpu: [['cluster', 'cluster m × n', 2], ['block', 'block m × n × k', 3], ['warp', 'warp m × n', 2], ['thread', 'thread m × n', 2],
    ['instruction', 'instruction m × n × k', 3]],
  cpu: [['nc', 'nc: m × n × k', 3], ['kc', 'kc: m × n × k', 3], ['mc', 'mc: m × n × k', 3], ['register', 'register mr × nr × k', 3]],
};
// The other fields of a schedule's query. Each is one or more controls, whose texts a separator joins; what a
// select offers is the model's. usual: the value of a field that is not written.
const kFields = [
  { name: 'stages', label: 'stages', usual: '1', parts: [{ number: 'stages' }] },
  { name: 'copy', label: 'copy to shared memory', usual: 'direct', parts: [{ choice: 'copy' }] },
  { name: 'vector', label: 'bytes an access: global, A, B (0: an element)', usual: '0,0,0', separator: ',',
    parts: ['global', 'of A', 'of B'].map(what => ({ number: `bytes, ${what}` })) },
  { name: 'layout', label: 'shared layout', usual: 'plain', separator: ':',
    parts: [{ choice: 'layout', usual: { pad: '4', swizzle: '128' } }, { number: 'elements or bytes', absentFor: ['plain'] }] },
  { name: 'order', label: 'launch order', usual: 'row:1:m', separator: ':',
    parts: [{ choice: 'order', usual: { grouped: '8', serpentine: '8' } }, { number: 'group', absentFor: ['row', 'column', 'hilbert'] },
      { choice: 'axis', absentFor: ['row', 'column', 'hilbert'] }] },
  { name: 'cluster', label: 'blocks of a cluster, m × n', usual: '1x1', separator: 'x', parts: [{ number: 'cluster m' }, { number: 'cluster n' }] },
  { name: 'split', label: 'K split in', usual: '1:second_pass', separator: ':', parts: [{ number: 'ways' }, { choice: 'reduce' }] },
  { name: 'stream_k', label: 'stream-K', usual: '0', parts: [{ flag: true }] },
  { name: 'persistent', label: 'persistent', usual: '0', parts: [{ flag: true }] },
  { name: 'consumers', label: 'consumers', usual: 'cooperative', parts: [{ choice: 'consumers' }] },
  { name: 'swap_ab', label: 'A and B swapped', usual: '0', parts: [{ flag: true }] },
  { name: 'promote', label: 'sums promoted every (0: never)', usual: '0', parts: [{ number: 'elements of K' }] },
  { name: 'compute', label: 'arithmetic', usual: 'f32', parts: [{ choice: 'compute' }] },
  { name: 'kernel', label: 'kernel', usual: '', parts: [{ kernels: true }] },
];

// What the library's messages call a field, where that is not the query's name alone.
const kNoKernel = 'the first that takes it';
const kMessageNames = { split: 'split|split_k', vector: 'vector|vector_bytes', layout: 'layout|shared_layout', promote: 'promote|accumulate',
  'tile-thread': 'thread|repeat_m' };

export class ScheduleScene {
  constructor(root, state, model) {
    this.state = state;
    this.model = model;
    this.tiles = {};
    this.fields = {};
    this.edit = null;  // the field that was just changed
    this.touched = null;  // the last one, the query that it made, and whether it is the cause of its refusal
    this.refusal = '';
    this.makeForm();
    this.result = element('div', { class: 'side results' });
    this.counts = element('div', {});
    this.meters = element('div', { class: 'whole' });
    this.time = element('div', { class: 'whole' });
    this.roof = element('figure', {});
    this.waves = new Drawing('Blocks on SMs, wave by wave', (...a) => this.drawWaves(...a), () => this.wavesHeight());
    this.wavesText = element('figcaption', { id: 'waves-text' });
    this.fits = element('div', {},
      element('h3', {}, 'One block on an SM'), this.meters,
      element('h3', {}, 'Waves'), element('figure', {}, this.waves.canvas, this.wavesText),
      element('h3', {}, 'Roofline'), this.roof,
      element('h3', {}, 'Time by resource'), this.time);
    this.note = element('p', { class: 'explain' }, 'The described machines are GPUs: the reads of a CPU\'s schedule are counted, its time is not estimated here.');
    this.result.append(this.counts, this.note, this.fits);
    root.append(element('div', { class: 'split editor' }, element('div', { class: 'stage' }, element('h2', {}, 'Schedule'), this.form), this.result));
  }

  makeForm() {
    this.form = element('form', { class: 'fields', 'aria-label': 'Schedule', onsubmit: event => event.preventDefault() });
    this.lines = element('div', { class: 'lines' });
    for (const [device, levels] of Object.entries(kLevels)) {
      for (const [level, label] of levels) {
        const control = element('input', { autocomplete: 'off', placeholder: 'not tiled', onchange: () => this.takeTiles(level) });
        this.tiles[level] = { ...this.line(`tile-${level}`, label, [control]), control, device };
      }
    }
    for (const field of kFields) {
      const take = () => this.take(field);
      const controls = field.parts.map(part => this.control(field, part, take));
      this.fields[field.name] = { ...this.line(field.name, field.label, controls), control: controls[0], controls };
    }
    this.reset = element('button', { type: 'button', onclick: () => this.state.takeSchedule(this.state.schedule()) }, 'Undo all changes');
    this.form.append(this.lines, this.reset, element('p', { class: 'explain' }, 'thread 8x8/2x2 is an 8 × 8 tile in 2 × 2 strided pieces.'));
    return this.form;
  }

  // A label, its controls, and a place for what is wrong with them.
  line(name, label, controls) {
    const error = element('p', { class: 'field-error', id: `error-${name}`, hidden: true });
    controls[0].id = `field-${name}`;
    for (const control of controls) control.setAttribute('aria-describedby', error.id);
    const root = element('div', { class: 'field' }, element('label', { for: controls[0].id }, label),
      element('div', { class: 'controls' }, ...controls), error);
    this.lines.append(root);
    return { root, error };
  }
  control(field, part, take) {
    if (part.flag) return element('input', { type: 'checkbox', onchange: take });
    const name = part === field.parts[0] ? null : `${field.label}: ${part.number ?? part.choice}`;
    if (part.number) return element('input', { inputmode: 'numeric', size: '4', autocomplete: 'off', 'aria-label': name, onchange: take });
    const texts = part.kernels ? ['', ...new Set(this.model.names.schedules.map(s => s.kernel))] : this.model.names.choices[part.choice];
    return element('select', { 'aria-label': name, onchange: take }, ...texts.map(text => element('option', { value: text }, text || kNoKernel)));
  }

  // The texts of tiles, as the query writes them.
  takeTiles(level) {
    this.edit = `tile-${level}`;
    const tiles = [];
    for (const [name] of kLevels[this.device()]) {
      const text = this.tiles[name].control.value.trim().replace(/\s*[×x*]\s*/g, 'x');
      if (text !== '') tiles.push(`${name}:${text.replace(/^(\d+)x(\d+)(\/|$)/, '$1x$2x0$3')}`);
    }
    this.state.set({ tile: tiles.length ? tiles : ['none'], at: null, phase: null, thread: null });
  }
  // The parts of one field, as the query writes them; a kind that was just chosen gets its usual amount.
  take(field) {
    this.edit = field.name;
    const { controls } = this.fields[field.name];
    const kind = controls[0].value, changed = kind !== this.value(field)[0];
    const texts = field.parts.map((part, i) => {
      if (part.flag) return controls[i].checked ? '1' : '0';
      if (this.absent(part, kind)) return null;
      if (i === 1 && changed && field.parts[0].usual) return field.parts[0].usual[kind];
      return controls[i].value.trim();
    });
    this.state.set({ [field.name]: texts.filter(text => text !== null).join(field.separator ?? '') });
  }
  absent(part, kind) { return part.absentFor?.includes(kind) ?? false; }

  // The schedule in force, as names and texts: the named one with the address's changes over it.
  inForce() {
    const named = this.model.names.schedules.find(s => s.name === this.state.schedule());
    const query = new URLSearchParams(named?.query ?? '');
    if (this.state.items.has('tile')) {
      query.delete('tile');
      for (const tile of this.state.items.getAll('tile')) query.append('tile', tile);
    }
    for (const name of ['device', ...kFields.map(f => f.name)]) if (this.state.items.has(name)) query.set(name, this.state.get(name));
    return query;
  }
  device() { return this.inForce().get('device') === 'cpu' ? 'cpu' : 'gpu'; }
  // The texts of a field's parts; what the query leaves out is as usual.
  value(field, query = this.inForce()) {
    const split = text => field.separator ? text.split(field.separator) : [text];
    const given = split(query.get(field.name) ?? field.usual), usual = split(field.usual);
    return field.parts.map((part, i) => given[i] ?? usual[i] ?? '');
  }

  fill() {
    const query = this.inForce(), device = this.device();
    const tiles = Object.fromEntries(query.getAll('tile').filter(t => t.includes(':')).map(t => t.split(/:(.*)/s)));
    for (const [level, , extents] of Object.values(kLevels).flat()) {
      const { control, root } = this.tiles[level];
      root.hidden = this.tiles[level].device !== device;
      if (this.state.typing(control)) continue;
      const text = tiles[level] ?? '';
      control.value = extents === 2 ? text.replace(/^(\d+x\d+)x0/, '$1') : text;
    }
    for (const field of kFields) {
      const { controls } = this.fields[field.name], values = this.value(field, query);
      field.parts.forEach((part, i) => {
        const control = controls[i], value = values[i];
        control.hidden = this.absent(part, values[0]);
        if (part.flag) control.checked = value === '1';
        else if (this.state.typing(control)) return;
        else setValue(control, value);
      });
    }
    // A named schedule always names a kernel.
    this.fields.kernel.control.querySelector('[value=""]').hidden = query.get('kernel') !== null && this.state.schedule() !== kCustom;
    this.reset.disabled = !this.state.edited();
  }

  showError(message) {
    const all = { ...this.fields };
    for (const [level, line] of Object.entries(this.tiles)) all[`tile-${level}`] = line;
    for (const { control, error } of Object.values(all)) {
      error.hidden = true;
      control.removeAttribute('aria-invalid');
    }
    if (!message) return;
    if (/^(explain: )?((m|n|k|type|machine|schedule|operands) is|unknown (type|machine|schedule)) |layout (nn|nt|tn|tt)\b|does not multiply|(stride|pitch) of [ABD] is|machine "[^"]*" is /.test(message)) return;  // the page's own fields
    const touched = this.touched?.query === this.state.query() ? this.touched : null;
    const last = touched?.name;
    const shown = [touched?.cause && all[last], all[this.mentioned(message, Object.keys(all))], all[last], all['tile-block'], all['tile-nc']].find(field => field && !field.root.hidden);
    shown.error.textContent = sentence(message);
    shown.error.hidden = false;
    shown.control.setAttribute('aria-invalid', 'true');
  }
  // Whether the field just changed is what is refused: nothing was before, or this field for another reason.
  isCause(refusal) {
    if (this.refusal === '') return true;
    return this.touched?.name === this.edit && this.touched.cause && refusal !== this.refusal;
  }
  mentioned(message, names) {
    const text = plain(message);
    const place = name => text.search(new RegExp(`\\b(${kMessageNames[name] ?? name.replace('tile-', '')})\\b`));
    const first = names.find(name => place(name) === 0);
    if (first) return first;
    if (/registers|threads/.test(text)) return 'tile-thread';
    if (/stages|shared memory/.test(text)) return 'stages';
    return names.filter(name => place(name) >= 0).sort((x, y) => place(x) - place(y))[0];
  }

  show(count) {
    this.fill();
    const e = count.error ? count : this.model.ask('estimate', this.state.query());
    this.estimate = e;
    this.note.hidden = Boolean(count.error) || this.device() !== 'cpu';
    const refusal = this.note.hidden ? refusalOf(this.model, this.state.query()) : '';
    if (this.edit) this.touched = { name: this.edit, query: this.state.query(), cause: this.isCause(refusal) };
    this.edit = null;
    this.refusal = refusal;
    this.showError(refusal);
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
    update(this.counts, table('level-counts', 'Reads by level', ['level', 'tile', 'elements', 'bytes', 'reuse of A / B', 'FLOP/byte'], rows));
  }

  showMeters(e) {
    if (!e.block) {
      this.meters.replaceChildren(element('p', { class: 'explain' }, `${e.title} is a CPU: blocks, SMs and occupancy do not apply.`));
      return;
    }
    const { block: b, limits: l, occupancy: o } = e;
    const warps = Math.ceil(b.threads / 32);
    update(this.meters,
      bar('shared memory', b.shared_bytes, l.shared_bytes, `${digits(b.shared_bytes)} of ${digits(l.shared_bytes)} bytes a block`),
      bar('registers', b.registers_per_thread, l.registers_per_thread, `about ${b.registers_per_thread} of ${l.registers_per_thread} a thread`),
      bar('threads', b.threads, l.threads, `${digits(b.threads)} of ${digits(l.threads)} a block (${warps} warps)`),
      bar('occupancy', o.occupancy, 1, `${short(100 * o.occupancy)} %: ${o.blocks_per_sm} ${plural(o.blocks_per_sm, 'block')} an SM`),
      element('p', { class: 'explain', id: 'occupancy-text' },
        `Limited by ${o.limiter}. Blocks an SM by each limit alone: registers ${o.by_registers}, shared memory ${o.by_shared}, warps ${o.by_warps}, blocks ${o.by_blocks}. How: ${ended(b.formula)}`));
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
    update(this.time, element('p', { id: 'time-text' }, sentence), ...rows,
      ...e.notes.map(note => element('p', { class: 'explain' }, note)));
  }

  wavesSentence(e) {
    if (!e.block) return '';
    const w = e.waves, slots = e.units * e.occupancy.blocks_per_sm;
    const tail = Number(BigInt(w.tiles) % BigInt(slots));
    return `${digits(w.tiles)} ${plural(Number(w.tiles), 'block')} over ${e.units} SMs × ${e.occupancy.blocks_per_sm} ${plural(Number(w.tiles), 'is', 'are')} ${short(w.fraction)} ${plural(w.fraction, 'wave')}, so ${digits(w.waves)}: ${short(100 * w.efficiency)} % of the slots work. ` +
      (Number(w.tiles) === 0 ? '' : tail === 0 ? 'The last wave is full.' : `The last wave holds ${digits(tail)} of ${digits(slots)} blocks; the other slots idle.`) +
      (e.padding_efficiency === 1 ? ' No product is padding.' : ` ${short(100 * e.padding_efficiency)} % of the products are useful, the rest is padding.`);
  }
  wavesHeight() { return this.estimate?.block ? Math.min(this.estimate.units * 1.4, 220) + 18 : 20; }

  // A row an SM, a column a wave; the last 12 waves where there are more.
  drawWaves(context, width, height, colour) {
    const e = this.estimate;
    if (!e || e.error || !e.block || Number(e.waves.tiles) === 0) return;
    const waves = Number(e.waves.waves), each = e.occupancy.blocks_per_sm;
    const slots = e.units * each, shown = Math.min(waves, 12), first = BigInt(e.waves.waves) - BigInt(shown);
    const left = first > 0 ? 60 : 0, w = (width - left) / shown, h = (height - 18) / e.units;
    const tail = Number(BigInt(e.waves.tiles) - (BigInt(e.waves.waves) - 1n) * BigInt(slots));
    for (let i = 0; i < shown; i++) {
      const wave = first + BigInt(i), filled = i === shown - 1 ? tail : slots;
      for (let sm = 0; sm < e.units; sm++) {
        for (let slot = 0; slot < each; slot++) {
          const busy = slot * e.units + sm < filled;
          context.fillStyle = busy ? (i % 2 ? colour.a : colour['a-past']) : colour.idle;
          context.fillRect(left + i * w + slot * w / each + 0.5, sm * h, w / each - 1, Math.max(h - 0.3, 0.5));
        }
      }
      context.fillStyle = colour.text;
      context.font = '11px system-ui, sans-serif';
      const label = [`wave ${digits(wave + 1n)}`, digits(wave + 1n)].find(text => context.measureText(text).width < w - 3);
      if (label) context.fillText(label, left + i * w + 2, height - 5);
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
    update(this.roof, roofline(points, e, this.roof.clientWidth < 460 ? 340 : 560), element('figcaption', { id: 'roof-text' },
      `${e.peak} peak ${short(e.peak_tflops)} TFLOP/s. ` + points.map(p =>
        `${p.name}: ${short(p.intensity)} FLOP a byte${p.ridge ? `, ridge ${short(p.ridge)}, so ${p.intensity < p.ridge ? 'its bandwidth limits' : 'arithmetic can be fed'}` : ''}`).join('. ') + '.'));
  }
}

// A select also shows a value that it does not offer.
function setValue(control, value) {
  if (control.tagName === 'SELECT' && ![...control.options].some(option => option.value === value)) control.append(element('option', {}, value));
  control.value = value;
}

// Logarithmic axes: FLOP a byte across, TFLOP/s up; a slope for each memory whose ridge is known.
// width: of its own units, so that texts stay readable on a narrow page.
function roofline(points, e, width) {
  const height = 300, left = 54, right = 26, top = 16, bottom = 40;
  const all = points.flatMap(p => [p.intensity, p.ridge]).filter(x => x > 0);
  const lowX = Math.floor(Math.log10(Math.min(...all, 1)) - 0.1), highX = Math.ceil(Math.log10(Math.max(...all, 10)) + 0.1);
  const highY = Math.ceil(Math.log10(e.peak_tflops) + 0.05), lowY = highY - 4;
  const x = v => left + (Math.log10(v) - lowX) / (highX - lowX) * (width - left - right);
  const y = v => height - bottom - Math.min(1, Math.max(0, (Math.log10(v) - lowY) / (highY - lowY))) * (height - top - bottom);
  // Groups, so that a mark stays the same node and moves while the axes around it change.
  const axes = svg('g'), roofs = svg('g'), labels = svg('g'), marked = svg('g');
  const text = (group, tx, ty, content, anchor = 'middle', kind = 'tick') => group.append(svg('text', { x: tx, y: ty, 'text-anchor': anchor, class: kind }, content));
  const line = (group, x1, y1, x2, y2, kind) => group.append(svg('line', { x1, y1, x2, y2, class: kind }));
  for (let p = lowX; p <= highX; p++) {
    line(axes, x(10 ** p), top, x(10 ** p), height - bottom, 'gridline');
    text(axes, x(10 ** p), height - bottom + 16, digits(Number((10 ** p).toPrecision(1))));
  }
  for (let p = lowY; p <= highY; p++) {
    line(axes, left, y(10 ** p), width - right, y(10 ** p), 'gridline');
    text(axes, left - 6, y(10 ** p) + 4, digits(Number((10 ** p).toPrecision(1))), 'end');
  }
  text(axes, (left + width - right) / 2, height - 6, 'FLOP a byte', 'middle', 'axis');
  text(axes, left + 4, 12, 'TFLOP/s', 'start', 'axis');
  line(roofs, left, y(e.peak_tflops), width - right, y(e.peak_tflops), 'roof');
  const seen = new Set();
  for (const p of points) {
    const key = p.ridge && p.ridge.toPrecision(6);
    if (!p.ridge || seen.has(key)) continue;
    seen.add(key);
    const start = Math.max(10 ** lowX, p.ridge * 10 ** lowY / e.peak_tflops);
    line(roofs, x(start), y(e.peak_tflops * start / p.ridge), x(p.ridge), y(e.peak_tflops), 'slope');
  }
  // Points that would lie on each other share one mark.
  const marks = [];
  points.forEach((p, i) => {
    const reach = p.ridge ? Math.min(e.peak_tflops, e.peak_tflops * p.intensity / p.ridge) : e.peak_tflops;
    const px = x(p.intensity), py = y(reach);
    const there = marks.find(mark => Math.hypot(mark.px - px, mark.py - py) < 14);
    if (there) there.numbers.push(i + 1);
    else marks.push({ px, py, shape: p.shape, numbers: [i + 1] });
    text(labels, width - right - 4, height - bottom - 10 - 15 * (points.length - 1 - i), `${i + 1}  ${p.name}`, 'end', 'label');
  });
  for (const { px, py, shape, numbers } of marks) {
    const half = 5 + 4.5 * numbers.length;
    const mark = svg('g', { class: 'mark', style: `transform: translate(${px.toFixed(1)}px, ${py.toFixed(1)}px)` },
      svg('rect', { x: -half, y: -9, width: 2 * half, height: 18, rx: shape === 'circle' ? 9 : 2, class: `point ${shape}` }));
    text(mark, 0, 4, numbers.join(','), 'middle', 'number');
    marked.append(mark);
  }
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Roofline', class: 'roofline' }, axes, roofs, labels, marked);
}
