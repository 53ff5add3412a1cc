// Inside a warp: which thread holds which element of a tensor-core instruction's operands.
import { Drawing, element } from 'tilewise/draw.js';
import { sentence } from 'tilewise/message.js';

const kShapes = ['m16n8k8', 'm16n8k16', 'm16n8k32', 'm64n64k16', 'm64n128k16', 'm64n256k16', 'm64n128k32', 'm64n256k32'];
const kHues = 8;

export class FragmentFigure {
  constructor(state, model) {
    this.state = state;
    this.model = model;
    this.hovered = null;
    this.drawings = element('div', { class: 'fragments' });
    this.caption = element('figcaption', { id: 'fragment-text', 'aria-live': 'polite' });
    this.shape = element('select', { 'aria-label': 'Instruction', onchange: () => this.state.set({ fragment: this.shape.value }) });
    this.thread = element('input', { type: 'number', min: '0', value: '0', 'aria-label': 'Thread', oninput: () => this.state.set({ lane: this.thread.value }) });
    this.root = element('section', { class: 'card' }, element('h2', {}, 'Inside a warp: the fragments of one instruction'),
      element('div', { class: 'row' }, element('label', {}, 'instruction ', this.shape), element('label', {}, 'thread ', this.thread)),
      element('figure', {}, this.drawings, this.caption));
  }

  show(count) {
    this.example = !count.error && !count.levels.some(l => l.level === 'instruction');
    const answer = count.error ? count : this.model.ask('fragment', this.state.query({ fragment: this.state.get('fragment') }));
    if (answer.error) {
      this.drawings.replaceChildren();
      this.caption.textContent = count.error ? '' : sentence(answer.error);
      this.answer = null;
      this.said = null;
      const own = count.levels?.find(l => l.level === 'instruction');
      this.fillShapes(this.state.get('fragment') || (own ? `m${own.m}n${own.n}k${own.k}` : 'm16n8k16'));
      return;
    }
    if (this.answer !== answer) {
      this.answer = answer;
      this.hovered = null;
      this.said = null;
      this.fillShapes(answer.shape);
      this.drawings.replaceChildren(...answer.fragments.map(f => this.figure(f)));
    }
    if (this.said === this.saying()) return;
    this.thread.max = String(this.last());
    if (!this.state.typing(this.thread)) this.thread.value = String(this.chosen());
    this.say();
  }

  fillShapes(shape) {
    const shapes = kShapes.includes(shape) ? kShapes : [shape, ...kShapes];
    if ([...this.shape.options].map(o => o.value).join() !== shapes.join()) this.shape.replaceChildren(...shapes.map(s => element('option', {}, s)));
    this.shape.value = shape;
  }

  chosen() {
    const lane = this.state.number('lane', 0);
    return this.hovered ?? Math.min(lane, this.last());
  }
  last() { return this.answer.fragments.at(-1).threads - 1; }
  // A thread that does not exist is said, and another one shown.
  lost() {
    const text = this.state.get('lane', '0');
    return this.state.number('lane', Infinity) <= this.last() ? '' : `thread is "${text.slice(0, 40)}"; it must be a whole number from 0 to ${this.last()}. `;
  }

  figure(f) {
    const drawing = new Drawing(`Fragment of ${f.operand.toUpperCase()}, ${f.rows} × ${f.columns}`,
      (context, width, height, colour) => this.draw(f, context, width, height, colour),
      width => Math.min(420, Math.max(60, width / f.columns * f.rows)));
    const point = event => {
      const box = drawing.canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left) / box.width * f.columns), row = Math.floor((event.clientY - box.top) / box.height * f.rows);
      const thread = row >= 0 && column >= 0 && row < f.rows && column < f.columns ? f.thread[row * f.columns + column] : null;
      if (thread === this.hovered) return;
      this.hovered = thread;
      this.say();
    };
    drawing.canvas.addEventListener('pointermove', point);
    drawing.canvas.addEventListener('pointerleave', () => { this.hovered = null; this.say(); });
    drawing.canvas.addEventListener('click', () => { if (this.hovered !== null) this.state.set({ lane: String(this.hovered) }); });
    f.drawing = drawing;
    return element('div', { class: 'fragment', style: `flex:${Math.max(8, Math.min(f.columns, 64))} 1 0` },
      element('h3', {}, `${f.operand.toUpperCase()}  ${f.rows} × ${f.columns}, ${f.elements_per_thread} a thread`), drawing.canvas);
  }

  saying() { return `${this.answer.shape} ${this.chosen()} ${this.example} ${this.lost()}`; }

  say() {
    if (!this.answer) return;
    const thread = this.chosen();
    this.said = this.saying();
    this.thread.setAttribute('aria-invalid', String(this.lost() !== ''));
    const parts = this.answer.fragments.map(f => {
      const places = [];
      f.thread.forEach((t, i) => { if (t === thread) places.push([f.element[i], Math.floor(i / f.columns), i % f.columns]); });
      places.sort((x, y) => x[0] - y[0]);
      const shown = places.slice(0, 8).map(([, row, column]) => `(${row}, ${column})`).join(' ');
      return `${f.operand.toUpperCase()} ${shown}${places.length > 8 ? ` and ${places.length - 8} more` : ''}`;
    });
    const example = this.example ? 'An example, since this schedule multiplies without tensor cores: ' : '';
    this.caption.textContent = `${this.lost()}${example}${this.answer.title}. Thread ${thread} holds, as (row, column) in its order of registers: ${parts.join('; ')}.`;
    for (const f of this.answer.fragments) f.drawing.redraw();
  }

  draw(f, context, width, height, colour) {
    const w = width / f.columns, h = height / f.rows, chosen = this.chosen();
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = `${Math.min(12, h * 0.6)}px system-ui, sans-serif`;
    for (let i = 0; i < f.thread.length; i++) {
      const thread = f.thread[i], x = i % f.columns * w, y = Math.floor(i / f.columns) * h;
      const mine = thread === chosen;
      context.fillStyle = mine ? colour[f.operand] : colour['hue' + Math.floor(thread / 4) % kHues];
      context.fillRect(x, y, Math.ceil(w), Math.ceil(h));
      if (w >= 16 && h >= 12) {
        context.fillStyle = mine ? colour['on-strong'] : colour.text;
        context.fillText(String(thread), x + w / 2, y + h / 2 + 0.5);
      }
    }
    if (w >= 5 && h >= 5) {
      context.strokeStyle = colour.panel;
      context.lineWidth = 1;
      context.beginPath();
      for (let c = 1; c < f.columns; c++) { context.moveTo(c * w, 0); context.lineTo(c * w, height); }
      for (let r = 1; r < f.rows; r++) { context.moveTo(0, r * h); context.lineTo(width, r * h); }
      context.stroke();
    }
    context.textAlign = 'start';
    context.textBaseline = 'alphabetic';
  }
}
