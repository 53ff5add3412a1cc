// The page inside one element: controls above, one scene at a time below. It knows neither the address nor
// the notebook that it stands in: main.js and widget.js bring those.
import { element, redrawAll } from 'tilewise/draw.js';
import { refusalOf } from 'tilewise/model.js';
import { kCustom } from 'tilewise/state.js';
import { ended, plain, sentence } from 'tilewise/message.js';
import { TilesScene } from 'tilewise/tiles.js';
import { ScheduleScene } from 'tilewise/schedule.js';
import { OrderScene } from 'tilewise/order.js';
import { BanksScene } from 'tilewise/banks.js';

const kScenes = { tiles: TilesScene, schedule: ScheduleScene, order: OrderScene, banks: BanksScene };
const kUsual = { m: '4096', n: '4096', k: '4096', type: 'f32', schedule: 'square_tile', machine: 'h200', operands: 'nn' };
// Controls that leave a key to the scene.
const kFreeKeys = { '.': '[type=range], [type=radio], [role=tab]', ',': '[type=range], [type=radio], [role=tab]', ' ': '[type=range], [type=radio]:checked' };
// Controls above that a refusal to run speaks of.
const kRefuses = { operands: /layout (nn|nt|tn|tt)\b/, type: /does not multiply|multiplies/, machine: /machine "[^"]*" is /,
  m: /^m is /, n: /\bn is |^(explain: )?row stride of B/, k: /\bk is |^(explain: )?row stride of A/ };
const kDark = '(prefers-color-scheme: dark)';

class Page {
  // root holds the markup of index.html's body, frame has the class "tilewise" and takes the theme.
  constructor({ root, frame, state, model, keys, share, usualTheme }) {
    Object.assign(this, { root, frame, state, model, share, usualTheme, scenes: {} });
    this.end = new AbortController();
    this.fillSelects();
    this.wireProblem();
    this.wireTabs();
    state.listen(() => this.show());
    keys.addEventListener('keydown', event => this.key(event), { signal: this.end.signal });
    for (const query of [kDark, 'print']) {
      matchMedia(query).addEventListener('change', () => {
        this.showTheme();
        redrawAll(root, query === 'print');
      }, { signal: this.end.signal });
    }
  }

  find(id) { return this.root.querySelector('#' + id); }
  name() { return this.state.choice('scene', kScenes, 'tiles'); }

  fillSelects() {
    const form = this.find('problem'), { schedules, machines } = this.model.names;
    const group = (label, device) => element('optgroup', { label }, ...schedules
      .filter(s => s.device === device).map(s => element('option', { value: s.name }, s.name)));
    this.custom = element('option', { value: kCustom }, kCustom);
    form.schedule.append(this.custom, group('GPU', 'gpu'), group('CPU', 'cpu'));
    for (const m of machines) form.machine.append(element('option', { value: m.name, title: m.title }, m.name));
  }

  wireProblem() {
    const form = this.find('problem'), state = this.state;
    form.addEventListener('submit', event => event.preventDefault());
    for (const name of ['m', 'n', 'k']) {
      form[name].addEventListener('change', () => state.set({ [name]: form[name].value.trim(), at: null, phase: null }));
      form[name].addEventListener('keydown', event => { if (event.key === 'Enter') form[name].blur(); });
    }
    form.type.addEventListener('change', () => state.set({ type: form.type.value }));
    form.operands.addEventListener('change', () => state.set({ operands: form.operands.value }));
    form.machine.addEventListener('change', () => state.set({ machine: form.machine.value }));
    form.schedule.addEventListener('change', () => state.takeSchedule(form.schedule.value));
    const button = this.find('share');
    button.hidden = !this.share;
    button.addEventListener('click', async () => {
      button.textContent = await this.share();
      setTimeout(() => { button.textContent = 'Copy link'; }, 2000);
    });
    this.find('theme').addEventListener('click', () => state.set({ theme: this.theme() === 'dark' ? 'light' : 'dark' }));
  }

  theme() {
    const chosen = this.state.get('theme');
    if (chosen === 'light' || chosen === 'dark') return chosen;
    return this.usualTheme?.() ?? (matchMedia(kDark).matches ? 'dark' : 'light');
  }
  showTheme() {
    if (this.frame.dataset.theme === this.theme()) return;
    this.frame.dataset.theme = this.theme();
    redrawAll(this.root);
  }

  wireTabs() {
    const tabs = [...this.root.querySelectorAll('[role=tab]')];
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.state.set({ scene: tab.id.slice(4) }));
      tab.addEventListener('keydown', event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        const next = tabs[(i + step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      });
    });
  }
  showTabs(name) {
    if (this.find('tab-' + name).getAttribute('aria-selected') === 'true') return;
    for (const scene of Object.values(this.scenes)) scene.stop?.();
    for (const scene of Object.keys(kScenes)) {
      const here = scene === name;
      this.find('scene-' + scene).hidden = !here;
      this.find('tab-' + scene).setAttribute('aria-selected', String(here));
      this.find('tab-' + scene).tabIndex = here ? 0 : -1;
      for (const text of this.root.querySelectorAll(`footer [data-scene=${scene}]`)) text.hidden = !here;
    }
  }

  // What a run of the schedule in force would be refused with.
  refusal(answer) {
    if (answer.error || answer.device === 'cpu') return '';
    return refusalOf(this.model, this.state.query());
  }

  note(answer, refusal) {
    const { state } = this, name = state.schedule();
    const named = this.model.names.schedules.find(s => s.name === name);
    const extents = l => [l.m, l.n, l.k].map((x, i) => x || (i < 2 ? '·' : '')).filter(Boolean).join(' × ');
    const custom = () => `A custom schedule: ${answer.note || answer.levels.map(l => `${l.level} ${extents(l)}`).join(', ') || 'no tiles'}`;
    return [
      state.changed() && 'Changed from its named form.',
      name === kCustom && state.edited() && 'Changed from what the page was written with.',
      answer.error ? named?.note : sentence(name === kCustom ? custom() : named?.note ?? ''),
      refusal && `It cannot run as chosen: ${ended(refusal)} The counts are of the schedule itself.`,
    ].filter(Boolean).join(' ');
  }

  // Shows what the state says; a text that the model refuses stays visible beside its message.
  showProblem(answer) {
    const form = this.find('problem'), state = this.state;
    this.custom.hidden = this.custom.disabled = ![state.schedule(), state.written.get('schedule')].includes(kCustom);
    for (const [name, value] of Object.entries(kUsual)) {
      const field = form[name];
      const text = state.get(name, name === 'operands' ? answer.operands ?? value : value);
      if (field.value !== text && !state.typing(field)) field.value = text;
      field.removeAttribute('aria-invalid');
    }
    const refusal = this.refusal(answer);
    for (const [name, words] of Object.entries(kRefuses)) {
      if (words.test(refusal)) form[name].setAttribute('aria-invalid', 'true');
    }
    this.find('schedule-note').textContent = this.note(answer, refusal);
    const message = this.find('message');
    message.hidden = !answer.error;
    message.textContent = sentence(answer.error ?? '');
    if (!answer.error) return;
    for (const name of Object.keys(kUsual)) {
      if (plain(answer.error).startsWith(name + ' is') || answer.error.startsWith(`unknown ${name}`)) {
        form[name].setAttribute('aria-invalid', 'true');
      }
    }
  }

  show() {
    const name = this.name();
    this.showTheme();
    this.showTabs(name);
    const answer = this.model.ask('count', this.state.query());
    this.showProblem(answer);
    const panel = this.find('scene-' + name);
    const scene = this.scenes[name] ??= new kScenes[name](panel, this.state, this.model);
    panel.classList.toggle('refused', Boolean(answer.error));
    scene.show(answer);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const control = event.target.closest('input, select, textarea, [role=tab]');
    if (control && !control.matches(kFreeKeys[event.key] ?? ':not(*)')) return;  // they have keys of their own
    if (event.key === ' ' && event.target.closest('button, summary')) return;
    if (this.scenes[this.name()].key?.(event)) event.preventDefault();
  }

  stop() {
    this.end.abort();
    for (const scene of Object.values(this.scenes)) scene.stop?.();
  }
}

// Starts the page and shows it; the function returned ends its timers and listeners.
export function startPage(parts) {
  const page = new Page(parts);
  page.show();
  return () => page.stop();
}
