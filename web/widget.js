// The page as a notebook's widget, by anywidget's contract: render({model, el}). The widget's one trait,
// "state", is what the page has in its address. Everything stands under a shadow root, so that neither
// the notebook nor another widget shares a style, a name or a key with it.

// The page's files by name; the module as base64. The library writes them here (src/explorer/page.cpp).
const kFiles = {};

// Modules name each other "tilewise/NAME"; here each name becomes the address of its text.
const addresses = new Map();
function addressOf(name) {
  if (!addresses.has(name)) {
    const text = kFiles[name].replace(/'tilewise\/([^']+)'/g, (_, other) => `'${addressOf(other)}'`);
    addresses.set(name, URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
  }
  return addresses.get(name);
}

let loaded = null;
async function load() {
  const [{ bytesOfBase64, Model }, { startPage }, { State }] =
    await Promise.all(['model.js', 'page.js', 'state.js'].map(name => import(addressOf(name))));
  const data = JSON.parse(kFiles['data.json']), bytes = bytesOfBase64(kFiles['module.wasm']);
  return { State, startPage, data, newModel: () => Model.load(data, bytes) };
}

// The notebook's own theme, where it says which.
function notebookTheme() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === 'true' ? 'light' : 'dark';
  if (vscodeThemeKind) return vscodeThemeKind.includes('light') ? 'light' : 'dark';
  return undefined;
}

// The body of index.html under a shadow root of el.
function mount(el) {
  const shadow = el.attachShadow({ mode: 'open' });
  const page = new DOMParser().parseFromString(kFiles['index.html'], 'text/html');
  const style = document.createElement('style');
  style.textContent = kFiles['style.css'];
  const frame = document.createElement('div'), root = document.createElement('div');
  frame.className = 'tilewise widget';
  root.className = page.body.className;
  root.tabIndex = -1;  // a click anywhere gives it the keys
  root.append(...page.body.querySelectorAll('header, main, footer'));
  frame.append(root);
  shadow.append(style, frame);
  return { frame, root };
}

async function render({ model: traits, el }) {
  const host = document.createElement('div');
  host.dataset.lmSuppressShortcuts = 'true';  // JupyterLab's keys are not for what is typed in here
  el.append(host);
  const { frame, root } = mount(host);
  const { State, startPage, data, newModel } = await (loaded ??= load());
  const model = await newModel();
  const start = traits.get('state') || data.start;
  const state = new State(start, text => {
    traits.set('state', text);
    traits.save_changes();
  }, start);
  const take = () => { if (traits.get('state') !== state.text()) state.load(traits.get('state')); };
  traits.on('change:state', take);
  const stop = startPage({ root, frame, keys: root, state, model, usualTheme: notebookTheme });
  host.dataset.ready = 'true';
  return () => {
    traits.off('change:state', take);
    stop();
    state.write();
    host.remove();
  };
}

export default { render };
