// The page: controls above, one scene at a time below, all state in the address.
import { loadModel } from 'tilewise/model.js';
import { State } from 'tilewise/state.js';
import { element } from 'tilewise/draw.js';
import { TilesScene } from 'tilewise/tiles.js';
import { ScheduleScene } from 'tilewise/schedule.js';
import { OrderScene } from 'tilewise/order.js';
import { BanksScene } from 'tilewise/banks.js';

const kScenes = { tiles: TilesScene, schedule: ScheduleScene, order: OrderScene, banks: BanksScene };
const $ = id => document.getElementById(id);

function fillSelects(model) {
  const form = $('problem');
  const group = (label, device) => element('optgroup', { label }, ...model.names.schedules
    .filter(s => s.device === device).map(s => element('option', { value: s.name }, s.name)));
  form.schedule.append(group('GPU', 'gpu'), group('CPU', 'cpu'));
  for (const m of model.names.machines) form.machine.append(element('option', { value: m.name, title: m.title }, m.name));
}

// Shows what the address says; a text that the model refuses stays visible beside its message.
function showProblem(state, model, answer) {
  const form = $('problem');
  const usual = { m: '4096', n: '4096', k: '4096', type: 'f32', schedule: 'square_tile', machine: 'h200' };
  for (const [name, value] of Object.entries(usual)) {
    const field = form[name];
    if (document.activeElement !== field || field.tagName === 'SELECT') field.value = state.get(name, value);
    field.removeAttribute('aria-invalid');
  }
  const note = model.names.schedules.find(s => s.name === state.get('schedule', 'square_tile'))?.note ?? '';
  $('schedule-note').textContent = (state.edited() ? 'Changed from its named form. ' : '') + note;
  const message = $('message');
  message.hidden = !answer.error;
  message.textContent = answer.error ?? '';
  if (answer.error) {
    for (const name of Object.keys(usual)) {
      if (answer.error.startsWith(name + ' is') || answer.error.startsWith(`unknown ${name}`)) {
        form[name].setAttribute('aria-invalid', 'true');
      }
    }
  }
}

function wireProblem(state) {
  const form = $('problem');
  form.addEventListener('submit', event => event.preventDefault());
  for (const name of ['m', 'n', 'k']) {
    form[name].addEventListener('change', () => state.set({ [name]: form[name].value.trim(), at: null, phase: null }));
    form[name].addEventListener('keydown', event => { if (event.key === 'Enter') form[name].blur(); });
  }
  form.type.addEventListener('change', () => state.set({ type: form.type.value }));
  form.machine.addEventListener('change', () => state.set({ machine: form.machine.value }));
  form.schedule.addEventListener('change', () => state.takeSchedule(form.schedule.value));
  $('share').addEventListener('click', async () => {
    state.write();
    try {
      await navigator.clipboard.writeText(location.href);
      $('share').textContent = 'Copied';
    } catch {
      $('share').textContent = 'The address holds it';
    }
    setTimeout(() => { $('share').textContent = 'Copy link'; }, 2000);
  });
  $('theme').addEventListener('click', () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
    state.set({ theme: dark ? 'light' : 'dark' });
  });
}

function showTheme(state) {
  const theme = state.get('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function wireTabs(state) {
  const tabs = [...document.querySelectorAll('[role=tab]')];
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => state.set({ scene: tab.id.slice(4) }));
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

function showTabs(name) {
  if ($('tab-' + name).getAttribute('aria-selected') === 'true') return;
  for (const scene of Object.keys(kScenes)) {
    const here = scene === name;
    $('scene-' + scene).hidden = !here;
    $('tab-' + scene).setAttribute('aria-selected', String(here));
    $('tab-' + scene).tabIndex = here ? 0 : -1;
  }
}

async function start() {
  const model = await loadModel();
  const state = new State(model.data.start);
  const scenes = {};
  fillSelects(model);
  wireProblem(state);
  wireTabs(state);
  const show = () => {
    const name = state.get('scene') in kScenes ? state.get('scene') : 'tiles';
    showTheme(state);
    showTabs(name);
    const answer = model.ask('count', state.query());
    showProblem(state, model, answer);
    const scene = scenes[name] ??= new kScenes[name]($('scene-' + name), state, model);
    $('scene-' + name).classList.toggle('refused', Boolean(answer.error));
    scene.show(answer);
  };
  state.listen(show);
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest('input:not([type=radio]):not([type=checkbox]), select, textarea, [role=tab]')) return;
    const name = state.get('scene') in kScenes ? state.get('scene') : 'tiles';
    if (event.key === ' ' && event.target.closest('button, summary')) return;
    if (scenes[name].key?.(event)) event.preventDefault();
  });
  show();
  performance.mark('tilewise-ready');
  document.documentElement.dataset.ready = 'true';
  window.tilewise = { model, state };  // for the console, and for tests
}

start().catch(failure => {
  $('message').hidden = false;
  $('message').textContent = `The page could not start: ${failure.message}`;
});
