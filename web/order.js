// Scene 3: blocks in launch order on the SMs, wave by wave, and what each order reads from DRAM.
import { Drawing, bar, bytesText, digits, element, short, table, update } from 'tilewise/draw.js';
import { plural, sentence } from 'tilewise/message.js';

const kSpeeds = { slow: 900, usual: 350, fast: 80 };

export class OrderScene {
  constructor(root, state, model) {
    this.state = state;
    this.model = model;
    this.timer = null;
    this.group = element('select', { 'aria-label': 'Group', onchange: () => this.state.set({ group: this.group.value }) },
      ...['2', '4', '8', '11', '12', '16', '24', '32'].map(g => element('option', {}, g)));
    this.scrub = element('input', { type: 'range', min: '0', value: '0', 'aria-label': 'Wave', oninput: () => this.state.set({ wave: this.scrub.value }) });
    this.play = element('button', { type: 'button', onclick: () => this.toggle() }, 'Play');
    this.position = element('output', { class: 'position' });
    this.grids = element('div', { class: 'orders' });
    this.text = element('p', { class: 'explain', id: 'order-text' });
    this.totals = element('div', {});
    const step = by => () => this.step(by);
    root.append(element('h2', {}, 'Which blocks run together decides what the L2 can share'),
      this.controls = element('div', { class: 'transport' }, element('div', { class: 'row' },
        element('button', { type: 'button', 'aria-label': 'Previous wave', onclick: step(-1) }, '◀'), this.play,
        element('button', { type: 'button', 'aria-label': 'Next wave', onclick: step(1) }, '▶'), this.scrub, this.position,
        element('label', {}, 'group ', this.group))),
      this.grids, this.text, this.totals);
  }

  show(count) {
    const group = ['2', '4', '8', '11', '12', '16', '24', '32'].includes(this.state.get('group')) ? this.state.get('group') : '8';
    this.group.value = group;
    const answer = count.error ? count
      : this.model.ask('order', this.state.query({ orders: `row,grouped:${group},serpentine:${group}` }));
    this.answer = answer;
    this.controls.hidden = Boolean(answer.error);
    if (answer.error) {
      this.stop();
      this.grids.replaceChildren();
      this.totals.replaceChildren();
      this.text.textContent = count.error ? '' : sentence(answer.error);
      return;
    }
    if (answer !== this.drawn) {
      this.drawn = answer;
      this.grids.replaceChildren(...answer.orders.map(order => this.figure(order)));
    }
    const waves = this.waves(), wave = this.wave();
    this.scrub.max = String(Math.max(0, waves - 1));
    this.scrub.value = String(wave);
    this.position.textContent = waves === 0 ? 'no block' : `wave ${digits(wave + 1)} of ${digits(waves)}`;
    const worst = Math.max(...answer.orders.map(o => o.dram_bytes));
    for (const order of answer.orders) {
      const soFar = order.dram_by_wave.slice(0, wave + 1).reduce((x, y) => x + y, 0);
      update(order.meter, bar('DRAM so far', soFar, worst, bytesText(Math.round(soFar))));
      order.drawing.redraw();
    }
    this.text.textContent = `${this.launchSentence(answer)} A panel of A or B that another block of the wave, or an earlier wave, has brought into the L2 (${bytesText(answer.capacity_bytes)} of it are counted on) is not read from DRAM again. Within a wave the best group is about ${short(answer.best_group)}.`;
    const minimum = Number(answer.minimum_bytes);
    update(this.totals, table('dram-totals', 'DRAM reads of A and B in the end', ['order', 'bytes', 'times the minimum', 'without reuse between waves'],
      [...answer.orders.map(o => [this.name(o), bytesText(Math.round(o.dram_bytes)), short(o.dram_bytes / minimum), bytesText(Math.round(o.wave_only_bytes))]),
        ['minimum', bytesText(minimum), '1', ''], ['asked of the L2', bytesText(Number(answer.lookup_bytes)), short(Number(answer.lookup_bytes) / minimum), ''],
        ['delivered to SMs', bytesText(Number(answer.delivered_bytes)), short(Number(answer.delivered_bytes) / minimum), '']]));
  }

  launchSentence(a) {
    const together = a.cluster_m * a.cluster_n;
    const beyond = a.tiles_m * a.cluster_m > Number(a.blocks_m) || a.tiles_n * a.cluster_n > Number(a.blocks_n);
    return `${digits(a.slots)} ${plural(a.slots, 'block')} ${plural(a.slots, 'runs', 'run')} at a time on ${a.units} SMs` +
      (together > 1 ? `, as ${digits(a.clusters_at_once)} clusters of ${a.cluster_m} × ${a.cluster_n}, which are launched as one` : '') +
      (together > 1 && beyond ? '; blocks of the last clusters that lie beyond C (pale, dashed) run without an output' : '') + '.' +
      (a.ways > 1 ? ` K is split in ${a.ways}: the grid is launched ${a.ways} times over, once for each part of K.` : '') +
      (a.stream_k ? ' With stream-K each SM then takes an equal range of the phases of all tiles; the drawing has the order of the tiles.' : '');
  }

  name(order) { return order.kind === 'row' ? 'row' : `${order.kind} by ${order.group}`; }
  waves() { return Math.max(0, ...this.answer.orders.map(o => o.waves)); }
  wave() { return Math.min(this.state.number('wave', 0), Math.max(0, this.waves() - 1)); }

  figure(order) {
    order.drawing = new Drawing(`Blocks of C in ${this.name(order)} order`, (...a) => this.draw(order, ...a), width => Math.min(360, Math.max(40, width * this.answer.tiles_m * this.answer.cluster_m / (this.answer.tiles_n * this.answer.cluster_n))));
    order.meter = element('div', {});
    order.caption = element('figcaption', {});
    return element('figure', { class: 'order' }, element('h3', {}, this.name(order)), order.drawing.canvas, order.meter, order.caption);
  }

  // Earlier waves pale, this one strong in the order of its clusters; the rows and columns of clusters that
  // it needs marked along the edges. Of a split K the part that this wave begins with is drawn.
  draw(order, context, width, height, colour) {
    const a = this.answer, wave = this.wave(), edge = 7, grid = order.tiles.length;
    const w = (width - edge) / a.tiles_n, h = (height - edge) / a.tiles_m;
    const rows = new Set(), columns = new Set();
    context.fillStyle = colour['c-soft'];
    context.fillRect(edge, edge, width - edge, height - edge);
    const from = wave * a.clusters_at_once, to = Math.min(grid * a.ways, from + a.clusters_at_once);
    const part = Math.floor(from / Math.max(grid, 1)) * grid;  // launched before this part of K
    for (let i = part; i < to; i++) {
      const tile = order.tiles[i % grid], row = Math.floor(tile / a.tiles_n), column = tile % a.tiles_n;
      context.fillStyle = i < from ? colour['c-band'] : colour.c;
      context.globalAlpha = i < from ? 1 : 0.45 + 0.55 * (i - from) / a.clusters_at_once;
      this.cluster(context, row, column, edge, w, h);
      if (i >= from) rows.add(row), columns.add(column);
    }
    context.globalAlpha = 1;
    this.beyond(context, colour, edge, w, h, width, height);
    context.fillStyle = colour.a;
    for (const row of rows) context.fillRect(0, edge + row * h, edge - 2, h);
    context.fillStyle = colour.b;
    for (const column of columns) context.fillRect(edge + column * w, 0, w, edge - 2);
    context.strokeStyle = colour.line;
    context.strokeRect(edge + 0.5, edge + 0.5, width - edge - 1, height - edge - 1);
    const of = a.cluster_m * a.cluster_n > 1 ? 'clusters' : 'tiles';
    order.caption.textContent = `This wave uses ${rows.size} ${plural(rows.size, 'row')} of ${of} of A and ${columns.size} ${plural(columns.size, 'column')} of B.`;
  }

  // The blocks of one cluster touch; clusters stand apart.
  cluster(context, row, column, edge, w, h) {
    const a = this.answer, x = edge + column * w, y = edge + row * h;
    const gapX = w > 3 ? 0.7 : 0, gapY = h > 3 ? 0.7 : 0;
    if (a.cluster_m * a.cluster_n === 1 || w / a.cluster_n < 4 || h / a.cluster_m < 4) {
      context.fillRect(x, y, Math.max(w - gapX, 0.5), Math.max(h - gapY, 0.5));
      return;
    }
    const blockW = (w - 2) / a.cluster_n, blockH = (h - 2) / a.cluster_m;
    for (let i = 0; i < a.cluster_m; i++) {
      for (let j = 0; j < a.cluster_n; j++) context.fillRect(x + 1 + j * blockW, y + 1 + i * blockH, blockW - 0.4, blockH - 0.4);
    }
  }

  // What of the grid of clusters lies outside C.
  beyond(context, colour, edge, w, h, width, height) {
    const a = this.answer, right = edge + a.blocks_n / a.cluster_n * w, bottom = edge + a.blocks_m / a.cluster_m * h;
    if (right > width - 0.5 && bottom > height - 0.5) return;
    context.globalAlpha = 0.75;
    context.fillStyle = colour.panel;
    context.fillRect(right, edge, width - right, height - edge);
    context.fillRect(edge, bottom, right - edge, height - bottom);
    context.globalAlpha = 1;
    context.strokeStyle = colour.wrong;
    context.setLineDash([4, 3]);
    context.strokeRect(edge + 0.5, edge + 0.5, right - edge - 1, bottom - edge - 1);
    context.setLineDash([]);
  }

  step(by) {
    if (this.answer.error) return false;
    const next = this.wave() + by;
    if (next < 0 || next >= this.waves()) return false;
    this.state.set({ wave: String(next) });
    return true;
  }
  toggle() {
    if (this.timer !== null) return this.stop();
    this.timer = setInterval(() => { if (!this.step(1)) this.stop(); }, kSpeeds[this.state.choice('speed', kSpeeds, 'usual')]);
    this.play.textContent = 'Pause';
  }
  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = 'Play';
  }
  key(event) {
    if (event.key === 'ArrowRight') this.step(1);
    else if (event.key === 'ArrowLeft') this.step(-1);
    else if (event.key === ' ') this.toggle();
    else return false;
    return true;
  }
}
