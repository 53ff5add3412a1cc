// The kernel that runs the schedule, with the lines of the current moment marked.
import { element } from 'tilewise/draw.js';

// What each moment of a phase looks like in the kernels of kernels/ladder: by the functions that they
// call, searched for inside the loop over K (from its line on).
const kLoop = /for \((int phase|int64 k|int k) = /;
const kMarks = {
  load: /copy_phase\(|load\(phase|copy_a\.store|copy_b\.store|TileA::load|TileB::load|order\(k|expect_tx|arguments\.[ab]\.(row|at)|operand_[ab]\(|\.load</,
  full: /__syncthreads|cp_async_wait|mbarrier_wait\(&shared\.full/,
  multiply: /outer_product|accumulator \+=|accumulator\[|mma_sync|wgmma_mma_async|multiply\(|fma|\bsum \+=|read_shared|mma_m16/,
  empty: /__syncthreads|mbarrier_arrive\(&shared\.empty|mbarrier_wait\(&shared\.empty|release\(/,
};

export class SourcePane {
  constructor(model) {
    this.model = model;
    this.title = element('h2', {}, 'Kernel');
    this.code = element('pre', { class: 'code', tabindex: '0', 'aria-label': 'Kernel source' });
    this.text = element('p', { class: 'explain' });
    this.root = element('div', { class: 'source' }, this.title, this.text, this.code);
  }

  show(count, moment) {
    const path = Object.keys(this.model.data.kernels).find(p => p.replace(/^.*\/\d+_/, '') === `${count.kernel}.cuh`);
    this.code.hidden = !path;
    if (!path) {
      this.title.textContent = 'Kernel';
      this.text.textContent = count.error ? '' : `Schedule "${count.schedule}" runs kernel "${count.kernel || 'none'}", which is no file of kernels/ladder: on a CPU it is src/cpu/packed_product.cpp.`;
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
    const shown = `${path} ${moment}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const marked = this.marked(moment);
    [...this.code.children].forEach((line, i) => line.classList.toggle('marked', marked.includes(i)));
    this.text.textContent = marked.length ? `Marked: ${marked.length === 1 ? 'line' : 'lines'} ${marked.map(i => i + 1).join(', ')}.` : 'No line of this kernel stands for this moment.';
    if (marked.length) {
      const line = this.code.children[marked[0]];
      this.code.scrollTop = line.offsetTop - this.code.offsetTop - this.code.clientHeight / 3;
    }
  }

  marked(moment) {
    const loop = this.lines.findIndex(line => kLoop.test(line));
    if (loop < 0) return [];
    const indent = this.lines[loop].search(/\S/);
    let end = this.lines.findIndex((line, i) => i > loop && line.trim() === '}' && line.search(/\S/) === indent);
    if (end < 0) end = Math.min(this.lines.length, loop + 3);
    const found = [];
    for (let i = loop + 1; i < end; i++) {
      if (kMarks[moment].test(this.lines[i]) && !this.lines[i].trim().startsWith('//')) found.push(i);
    }
    if (moment !== 'full' && moment !== 'empty') return found;
    // One __syncthreads in the loop serves as both; of two, the first is "full", the second "empty".
    const barriers = found.filter(i => this.lines[i].includes('__syncthreads'));
    if (barriers.length < 2) return found;
    const other = moment === 'full' ? barriers.at(-1) : barriers[0];
    return found.filter(i => i !== other);
  }
}
