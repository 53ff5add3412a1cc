// The kernel that runs the schedule, with the lines of the current moment marked.
import { element } from 'tilewise/draw.js';
import { sentence } from 'tilewise/message.js';

// What each moment of a phase looks like in the kernels of kernels/ladder: by the functions that they
// call, searched for inside the loops over K.
const kLoop = /for \((int phase|int64 k|int k) = /;
const kMarks = {
  load: /copy_phase\(|load\(phase|copy_[ab]\.(store|template load)|Tile[AB]::load|order\(k|expect_tx|wmma_load_|copy<|\.data\[k/,
  full: /__syncthreads|cp_async_wait|mbarrier_wait\(&shared\.full/,
  multiply: /outer_product|accumulator(\[i\])? \+=|read_shared|mma<Element|wmma_mma|wgmma_mma_async|multiply\(acc|Fragment<.*>::load|load_[ab]\([ab]\[|\b[ab]\.fill\(/,
  empty: /__syncthreads|mbarrier_arrive\(&shared\.empty|mbarrier_wait\(&shared\.empty|release\(/,
};

export class SourcePane {
  constructor(model) {
    this.model = model;
    this.title = element('h2', {}, 'Kernel');
    this.code = element('pre', { class: 'code', tabindex: '0', 'aria-label': 'Kernel source' });
    this.text = element('p', { class: 'explain' });
    new ResizeObserver(() => this.reveal()).observe(this.code);
    this.root = element('div', { class: 'source' }, this.title, this.text, this.code);
  }

  show(count, moment, query) {
    const kernel = count.error ? count : this.model.ask('kernel', query);
    const path = this.pathOf(kernel.file);
    this.code.hidden = !path;
    if (!path) {
      this.title.textContent = 'Kernel';
      this.text.textContent = count.error ? '' : count.device === 'cpu' ? 'On a CPU the schedule is run by src/cpu/packed_product.cpp, which is not shown here.'
        : kernel.named ? sentence(kernel.refusal) : `The schedule names no kernel, and none runs it: ${sentence(kernel.refusal)}`;
      this.path = null;
      this.shown = null;
      return;
    }
    if (path !== this.path) {
      this.path = path;
      this.title.textContent = path;
      this.lines = this.model.data.kernels[path].split('\n');
      this.code.replaceChildren(...this.lines.map((line, i) => element('span', { class: 'line', 'data-line': String(i + 1) }, line + '\n')));
    }
    const what = !kernel.named ? 'The schedule names no kernel; this one runs it as it stands. '
      : kernel.refusal ? 'This kernel does not run the schedule as it stands: the reason is told above. ' : '';
    const shown = `${path} ${moment} ${what}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const marked = this.marked(moment);
    [...this.code.children].forEach((line, i) => line.classList.toggle('marked', marked.includes(i)));
    this.text.textContent = what + (marked.length ? `Marked: ${marked.length === 1 ? 'line' : 'lines'} ${marked.map(i => i + 1).join(', ')}.` : 'No line of this kernel stands for this moment.');
    this.reveal();
  }
  // Scrolls the first marked line into the upper part of the pane.
  reveal() {
    const line = this.code.querySelector('.marked');
    if (line) this.code.scrollTop = line.offsetTop - this.code.offsetTop - this.code.clientHeight / 3;
  }

  // The path of a kernel's file; one that only calls another rung shows that one.
  pathOf(file) {
    const kernels = this.model.data.kernels, path = file ? `kernels/${file}` : null;
    const other = kernels[path]?.match(/#include "(ladder\/[^"]+)"/);
    return other && `kernels/${other[1]}` in kernels ? `kernels/${other[1]}` : path;
  }

  marked(moment) {
    const found = [];
    for (const [begin, end] of this.loops()) {
      for (let i = begin; i < end; i++) {
        if (kMarks[moment].test(this.lines[i]) && !this.lines[i].trim().startsWith('//')) found.push(i);
      }
    }
    if (moment !== 'full' && moment !== 'empty') return found;
    // One __syncthreads in the loop serves as both; of two, the first is "full", the second "empty".
    const barriers = found.filter(i => this.lines[i].includes('__syncthreads'));
    if (barriers.length < 2) return found;
    const other = moment === 'full' ? barriers.at(-1) : barriers[0];
    return found.filter(i => i !== other);
  }

  // The bodies of the loops over K, as ranges of lines; of loops without braces only where there is no
  // other, as in the naive kernels.
  loops() {
    const bodies = [], single = [];
    this.lines.forEach((line, i) => {
      if (!kLoop.test(line)) return;
      const indent = line.search(/\S/);
      if (!line.endsWith('{')) return single.push([i, i + 3]);
      const end = this.lines.findIndex((other, j) => j > i && other.trim() === '}' && other.search(/\S/) === indent);
      bodies.push([i + 1, end < 0 ? this.lines.length : end]);
    });
    return bodies.length ? bodies : single;
  }
}
