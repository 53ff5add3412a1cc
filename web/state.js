// What is shown, as a list of names and texts in the page's address (after #). One object holds it;
// scenes listen to its changes.

// What the model is asked with; the rest of the state is the page's own (scene, theme, speed...).
const kOfTheModel = ['m', 'n', 'k', 'type', 'schedule', 'machine', 'tile', 'cluster', 'stages', 'copy', 'vector',
  'layout', 'order', 'split', 'stream_k', 'persistent', 'swap_ab', 'consumers', 'promote', 'compute', 'kernel',
  'device', 'name', 'note'];
const kAddressPause = 200;  // ms
const kOfTheSchedule = kOfTheModel.slice(6);

export class State {
  constructor(start) {
    this.listeners = [];
    const address = location.hash.length > 1 ? location.hash.slice(1) : location.search.slice(1);
    this.items = new URLSearchParams(address || start);
    this.pending = null;
    addEventListener('pagehide', () => this.write());
    addEventListener('hashchange', () => {
      clearTimeout(this.pending);
      this.pending = null;
      this.items = new URLSearchParams(location.hash.slice(1));
      this.tell();
    });
  }

  get(name, absent = '') { return this.items.get(name) ?? absent; }
  number(name, absent) {
    const text = this.items.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : absent;
  }

  // Several changes at once: a text, an array of texts, or null to leave the name out.
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      this.items.delete(name);
      for (const item of Array.isArray(value) ? value : [value]) {
        if (item !== null && item !== '') this.items.append(name, item);
      }
    }
    // A browser takes only so many changes of the address a second.
    this.pending ??= setTimeout(() => this.write(), kAddressPause);
    this.tell();
  }

  // The address as it should be, now.
  write() {
    clearTimeout(this.pending);
    this.pending = null;
    try {
      history.replaceState(null, '', '#' + this.items);
    } catch {
      // A page inside another document has no address of its own.
    }
  }

  // Another named schedule: edits of the one before are dropped.
  takeSchedule(name) {
    const changes = Object.fromEntries(kOfTheSchedule.map(field => [field, null]));
    this.set({ ...changes, schedule: name, at: null, phase: null, moment: null, thread: null, step: null,
      fragment: null });
  }
  edited() { return kOfTheSchedule.some(field => this.items.has(field)); }

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
