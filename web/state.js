// What is shown, as a list of names and texts: on a page what its address has after #, in a notebook the
// widget's trait. One object holds it; scenes listen to its changes.

// What the model is asked with; the rest of the state is the page's own (scene, theme, speed...).
const kOfTheModel = ['m', 'n', 'k', 'type', 'schedule', 'machine', 'operands', 'tile', 'cluster', 'stages', 'copy', 'vector',
  'layout', 'order', 'split', 'stream_k', 'persistent', 'swap_ab', 'consumers', 'promote', 'compute', 'kernel',
  'device', 'name', 'note'];
const kOfTheSchedule = kOfTheModel.slice(kOfTheModel.indexOf('tile'));
const kOfTheProblem = ['m', 'n', 'k', 'type', 'machine'];
const kKeepPause = 200;  // ms
export const kCustom = 'custom';  // the schedule that starts from no named one

export class State {
  // keep(text) is called a little after a change, with all of it.
  // What the text leaves out is as in `written`, the state that the page was made with.
  constructor(text, keep, written = '') {
    this.listeners = [];
    this.loading = false;
    this.written = new URLSearchParams(written);
    this.items = this.completed(text);
    this.keep = keep;
    this.pending = null;
  }

  completed(text) {
    const items = new URLSearchParams(text);
    const names = items.has('schedule') ? kOfTheProblem : [...kOfTheProblem, 'schedule', 'operands', ...kOfTheSchedule];
    for (const name of names) {
      if (items.has(name)) continue;
      for (const value of this.written.getAll(name)) items.append(name, value);
    }
    return items;
  }

  text() { return this.items.toString(); }
  // Another state from outside, in place of this one.
  load(text) {
    clearTimeout(this.pending);
    this.pending = null;
    this.items = this.completed(text);
    this.loading = true;
    this.tell();
    this.loading = false;
  }
  // Whether a field's text is still being typed: a change of the page's own leaves it, one from outside does not.
  typing(field) { return !this.loading && field.tagName === 'INPUT' && field.matches(':focus'); }

  get(name, absent = '') { return this.items.get(name) ?? absent; }
  number(name, absent) {
    const text = this.items.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : absent;
  }

  // A text that is a name of the table's own; usual where it is none.
  choice(name, table, usual) { return Object.hasOwn(table, this.get(name)) ? this.get(name) : usual; }

  // Several changes at once: a text, an array of texts, or null to leave the name out.
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      this.items.delete(name);
      for (const item of Array.isArray(value) ? value : [value]) {
        if (item !== null && item !== '') this.items.append(name, item);
      }
    }
    this.items = this.completed(this.items);
    // A browser takes only so many changes of the address a second.
    this.pending ??= setTimeout(() => this.write(), kKeepPause);
    this.tell();
  }

  // Keeps what is pending, now.
  write() {
    if (this.pending === null) return;
    clearTimeout(this.pending);
    this.pending = null;
    this.keep(this.text());
  }

  schedule() { return this.get('schedule', 'square_tile'); }
  // What a schedule starts with: the page's own as it was written, another one without a change.
  startOf(name) {
    const own = name === this.written.get('schedule');
    return Object.fromEntries(kOfTheSchedule.map(field => [field, own ? this.written.getAll(field) : []]));
  }
  // A schedule as it starts: edits of the one before are dropped.
  takeSchedule(name) {
    this.set({ ...this.startOf(name), schedule: name, at: null, phase: null, moment: null, thread: null, step: null,
      fragment: null });
  }
  // Whether takeSchedule() would change anything of the schedule in force.
  edited() {
    return Object.entries(this.startOf(this.schedule())).some(([field, texts]) => this.items.getAll(field).join('&') !== texts.join('&'));
  }
  // Whether it differs from the named schedule that it started from.
  changed() { return this.schedule() !== kCustom && kOfTheSchedule.some(field => this.items.has(field)); }

  // The request for the model, with further names for one question.
  query(more = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of this.items) if (kOfTheModel.includes(name)) query.append(name, value);
    for (const [name, value] of Object.entries(more)) if (value !== undefined && value !== '') query.set(name, value);
    return query.toString();
  }

  listen(listener) { this.listeners.push(listener); }
  tell() { for (const listener of this.listeners) listener(this); }
}
