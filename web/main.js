// The page as a document of its own: the state is its address, the keys are the whole document's.
import { bytesOfBase64, Model } from 'tilewise/model.js';
import { startPage } from 'tilewise/page.js';
import { State } from 'tilewise/state.js';

const $ = id => document.getElementById(id);

async function fetched(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response;
}

// The page's data and module: inside the page, or beside it on a file server.
async function sources() {
  const data = $('data'), module = $('module');
  if (data && module) return { data: JSON.parse(data.textContent), bytes: bytesOfBase64(module.textContent) };
  const [dataResponse, moduleResponse] = await Promise.all([fetched('data.json'), fetched('module.wasm')]);
  return { data: await dataResponse.json(), bytes: await moduleResponse.arrayBuffer() };
}

function writeAddress(text) {
  try {
    history.replaceState(null, '', '#' + text);
  } catch {
    // A page inside another document has no address of its own.
  }
}

function addressState(start) {
  const address = location.hash.length > 1 ? location.hash.slice(1) : location.search.slice(1);
  const state = new State(address || start, writeAddress, start);
  addEventListener('pagehide', () => state.write());
  addEventListener('hashchange', () => state.load(location.hash.slice(1)));
  return state;
}

async function start() {
  const { data, bytes } = await sources();
  const model = await Model.load(data, bytes);
  const state = addressState(data.start);
  const share = async () => {
    writeAddress(state.text());
    try {
      await navigator.clipboard.writeText(location.href);
      return 'Copied';
    } catch {
      return 'The address holds it';
    }
  };
  startPage({ root: document.body, frame: document.documentElement, keys: document, state, model, share });
  performance.mark('tilewise-ready');
  document.documentElement.dataset.ready = 'true';
  window.tilewise = { model, state };  // for the console, and for tests
}

start().catch(failure => {
  $('message').hidden = false;
  $('message').textContent = `The page could not start: ${failure.message}`;
});
