// Small tools for drawings: elements, a canvas that follows its size and the theme, numbers as text.

const kSvg = 'http://www.w3.org/2000/svg';

// element('div', {class: 'x', onclick: f}, child, 'text', ...)
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(kSvg, tag), attributes, children);
}
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

// New children for a node whose old ones mostly look alike: texts and attributes that differ are changed,
// so that a step lays out little and a scrolled table stays where it is. For children without listeners.
export function update(root, ...children) {
  const fresh = root.cloneNode(false);
  fresh.append(...children);
  become(root, fresh);
}
function become(node, fresh) {
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== fresh.data) node.data = fresh.data;
    return;
  }
  for (const { name } of [...node.attributes]) if (!fresh.hasAttribute(name)) node.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  const old = [...node.childNodes], next = [...fresh.childNodes];
  next.forEach((child, i) => {
    if (i >= old.length) node.append(child);
    else if (old[i].nodeName === child.nodeName) become(old[i], child);
    else old[i].replaceWith(child);
  });
  for (const child of old.slice(next.length)) child.remove();
}

// Exact integers, which come as decimal strings, with thin groups of three digits.
export function digits(value) {
  return String(value).replace(/^-?\d+/, whole => whole.replace(/\B(?=(\d{3})+$)/g, ','));
}
export function short(value) {
  if (value === null || value === undefined || !isFinite(value)) return 'unknown';
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(1);
  if (Math.abs(value) >= 1e15) return value.toExponential(2);
  const text = Math.abs(value) >= 1000 ? Math.round(value).toString() : String(Number(value.toPrecision(3)));
  return digits(text);
}
export function bytesText(value) {
  if (value === null || value === undefined) return 'unknown';
  const units = [value === 1 ? 'byte' : 'bytes', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB', 'RB', 'QB'];
  if (value >= 1e33) return `${value.toExponential(2)} bytes`;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) value /= 1000, unit++;
  return `${unit === 0 ? value : Number(value.toPrecision(4))} ${units[unit]}`;
}

const kUsualFont = 15;  // px of the page's text

// Colours of the theme in force, by the names of style.css.
function coloursOf(style) {
  return new Proxy({}, { get: (_, name) => style.getPropertyValue('--' + name).trim() });
}

const drawings = new WeakMap();  // by canvas
// Every drawing below a node, when the theme has changed; now: before paper takes it.
export function redrawAll(root, now = false) {
  for (const canvas of root.querySelectorAll('canvas')) now ? drawings.get(canvas)?.measure().now() : drawings.get(canvas)?.redraw();
}

// A canvas that redraws when its size changes. draw(context, width, height, colours) and aspect(width) speak in
// units that grow with the page's text: a pixel of usual size.
export class Drawing {
  constructor(label, draw, aspect) {
    this.draw = draw;
    this.aspect = aspect;
    this.canvas = element('canvas', { role: 'img', 'aria-label': label });
    this.pending = false;
    this.unit = 1;  // px
    this.width = 0;  // as the observer last saw it: asking the canvas would lay the page out once more
    this.observer = new ResizeObserver(([entry]) => {
      if (entry.contentRect.width === this.width) return;
      this.width = entry.contentRect.width;
      this.redraw();
    });
    this.observer.observe(this.canvas);
    drawings.set(this.canvas, this);
  }
  measure() {
    this.width = this.canvas.clientWidth;
    return this;
  }
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.now());
  }
  now() {
    this.pending = false;
    const width = this.width;
    if (width === 0 || !this.canvas.isConnected) return;  // asked for by a scene that has left since
    const style = getComputedStyle(this.canvas), ratio = Math.min(devicePixelRatio || 1, 3);
    const unit = this.unit = parseFloat(style.fontSize) / kUsualFont;
    const height = Math.round(unit * (typeof this.aspect === 'function' ? this.aspect(width / unit) : width / unit * this.aspect));
    if (height !== this.height) this.canvas.style.height = height + 'px';
    this.height = height;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.canvas.getContext('2d');
    context.setTransform(ratio * unit, 0, 0, ratio * unit, 0, 0);
    context.clearRect(0, 0, width / unit, height / unit);
    context.font = '12px system-ui, sans-serif';
    this.draw(context, width / unit, height / unit, coloursOf(style));
  }
  // Where an event of the mouse is, in the drawing's units.
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) / this.unit, y: (event.clientY - box.top) / this.unit };
  }
}

// A labelled bar: value of a total, both numbers.
export function bar(label, value, total, text, kind = '') {
  const share = total > 0 ? Math.min(1, value / total) : 0;
  return element('div', { class: 'meter ' + kind },
    element('span', { class: 'meter-label' }, label),
    element('span', { class: 'meter-track' },
      element('span', { class: 'meter-fill', style: `width:${(100 * share).toFixed(2)}%` })),
    element('span', { class: 'meter-text' }, text));
}

// Rows of cells; the first row is the head, the first cell of each names it.
export function table(id, caption, head, rows) {
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    element('table', { id },
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...head.map(text => element('th', { scope: 'col' }, text)))),
      element('tbody', {}, ...rows.map(row => element('tr', {},
        ...row.map((cell, i) => i === 0 ? element('th', { scope: 'row' }, cell)
          : element('td', {}, cell)))))));
}
