// Scene 4: how a tile lies in the 32 banks of shared memory, and what one access of a warp costs.
import { Drawing, bar, digits, element, table, update } from 'tilewise/draw.js';
import { plural, sentence } from 'tilewise/message.js';

const kHues = 8;

export class BanksScene {
  constructor(root, state, model) {
    this.state = state;
    this.model = model;
    const select = (name, label, values) => {
      const control = element('select', { onchange: () => this.state.set({ [name]: control.value }) }, ...values.map(v => element('option', {}, v)));
      this.controls[name] = control;
      return element('label', {}, label + ' ', control);
    };
    const number = (name, label) => {
      const control = element('input', { inputmode: 'numeric', size: '4', onchange: () => this.state.set({ [name]: control.value.trim() }) });
      this.controls[name] = control;
      return element('label', {}, label + ' ', control);
    };
    this.controls = {};
    this.form = element('form', { class: 'bar', 'aria-label': 'Access', onsubmit: e => e.preventDefault() },
      select('banks_layout', 'layout', ['plain', 'pad:1', 'pad:2', 'pad:4', 'pad:8', 'swizzle:32', 'swizzle:64', 'swizzle:128']),
      select('banks_pattern', 'a warp reads a', ['row', 'column', 'stride']),
      select('banks_bytes', 'bytes a lane', ['1', '2', '4', '8', '16']),
      number('banks_rows', 'rows'), number('banks_columns', 'columns'), number('banks_at', 'at'),
      number('banks_step', 'stride'), number('banks_lanes', 'lanes along it'));
    this.drawing = new Drawing('Shared memory by banks', (...a) => this.draw(...a), w => this.height(w));
    this.caption = element('figcaption', { id: 'banks-text' });
    this.cost = element('div', {});
    this.compare = element('div', {});
    root.append(element('h2', {}, 'Where a tile lies in the banks'), this.form,
      element('div', { class: 'split' },
        element('figure', { class: 'stage' }, this.drawing.canvas, this.caption),
        element('div', { class: 'side' }, this.cost, this.compare)));
  }

  query(more = {}) {
    const names = Object.fromEntries(Object.keys(this.controls).map(name => [name, this.state.get(name)]));
    return this.state.query({ ...names, ...more });
  }

  show(count) {
    const a = count.error ? count : this.model.ask('banks', this.query());
    this.answer = a;
    this.drawing.canvas.hidden = Boolean(a.error);
    if (a.error) {
      this.fill(count.error ? {} : this.model.ask('banks', this.state.query()));
      this.caption.textContent = count.error ? '' : sentence(a.error);
      this.cost.replaceChildren();
      this.compare.replaceChildren();
      return;
    }
    this.fill(a);
    const busiest = Math.max(...a.words_of_bank), active = a.lanes.filter(l => l.active).length;
    const example = count.staged ? '' : 'An example: this schedule keeps nothing of A or B in shared memory. ';
    this.caption.textContent = `${example}${active} of 32 lanes read ${a.width_bytes} ${plural(a.width_bytes, 'byte')} each. The busiest bank is asked for ${busiest} different ${plural(busiest, 'word')}. The access takes ${a.wavefronts} ${plural(a.wavefronts, 'wavefront')}, ${a.ideal} at best: ${a.conflicts === 0 ? 'no bank conflict' : `${a.conflicts} bank ${plural(a.conflicts, 'conflict')}`}. Colours are rows of the tile; numbers, where there is room, are lanes; the row below counts words asked of each bank.`;
    update(this.cost, bar('wavefronts', a.wavefronts, Math.max(a.wavefronts, 8), digits(a.wavefronts), a.conflicts ? 'limiter' : ''),
      bar('at best', a.ideal, Math.max(a.wavefronts, 8), digits(a.ideal)));
    this.showComparison();
    this.drawing.redraw();
  }

  // What was chosen, also where it is refused; the rest as in an answer.
  fill(a) {
    const values = { banks_layout: a.layout, banks_pattern: a.pattern, banks_bytes: a.width_bytes, banks_rows: a.rows,
      banks_columns: a.columns, banks_at: a.at, banks_step: a.step, banks_lanes: a.lanes_along };
    for (const [name, value] of Object.entries(values)) {
      const control = this.controls[name], text = this.state.get(name, String(value ?? ''));
      if (this.state.typing(control)) continue;
      if (control.tagName === 'SELECT' && ![...control.options].some(o => o.value === text)) control.append(element('option', {}, text));
      control.value = text;
    }
    for (const name of ['banks_step', 'banks_lanes']) this.controls[name].closest('label').hidden = this.controls.banks_pattern.value !== 'stride';
  }

  showComparison() {
    const rows = ['plain', 'pad:1', 'pad:4', 'swizzle:32', 'swizzle:64', 'swizzle:128'].map(layout => {
      const a = this.model.ask('banks', this.query({ banks_layout: layout }));
      return a.error ? [layout, 'not aligned', '–'] : [layout, digits(a.wavefronts), digits(a.conflicts)];
    });
    update(this.compare, table('bank-layouts', 'The same access with each layout', ['layout', 'wavefronts', 'conflicts'], rows));
  }

  height(width) { return this.answer?.lines ? Math.max(10, width / 32 * 0.72) * this.answer.lines + 14 : 40; }

  draw(context, width, height, colour) {
    const a = this.answer;
    if (!a || a.error) return;
    const w = width / 32, h = Math.max(10, w * 0.72);
    const lanesAt = new Map();
    for (const lane of a.lanes) {
      if (!lane.active) continue;
      for (let byte = lane.offset; byte < lane.offset + a.width_bytes; byte += 4) {
        const word = Math.floor(byte / 4);
        lanesAt.set(word, [...lanesAt.get(word) ?? [], lane.lane]);
      }
    }
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    for (let i = 0; i < a.words.length; i++) {
      const x = i % 32 * w, y = Math.floor(i / 32) * h, lanes = lanesAt.get(i);
      const row = Math.floor(a.words[i] / a.columns);
      context.fillStyle = a.words[i] < 0 ? colour.idle : lanes ? colour.b : colour['hue' + row % kHues];
      context.fillRect(x + 0.5, y + 0.5, w - 1, h - 1);
      if (lanes && w >= 14) {
        context.fillStyle = colour['on-strong'];
        context.font = `600 ${Math.min(12, h * 0.62)}px system-ui, sans-serif`;
        context.fillText(String(lanes[0]) + (lanes.length > 1 ? '+' : ''), x + w / 2, y + h / 2);
      }
    }
    context.font = '10px system-ui, sans-serif';
    const y = a.lines * h + 7, every = Math.ceil(14 / w);  // banks: of narrow ones some alone
    a.words_of_bank.forEach((count, bank) => {
      if (bank % every !== 0) return;
      context.fillStyle = count > 1 && a.conflicts > 0 ? colour.wrong : colour.muted;
      context.fillText(String(count), bank * w + w / 2, y);
    });
    context.textAlign = 'start';
    context.textBaseline = 'alphabetic';
  }
}
