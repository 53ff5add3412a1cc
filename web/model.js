// The library behind the page: loads the WebAssembly module and asks it questions. No arithmetic of
// the model is done in JavaScript; see src/web/answer.h for the questions.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// The three imports that the C library wants; nothing of ours calls them.
const kNoSystem = new Proxy({}, { get: () => () => 52 });

export function bytesOfBase64(text) {
  return Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
}

// Why the schedule in force cannot be run, or ''. That no kernel takes the type stands before what follows from it.
export function refusalOf(model, query) {
  const { refusal } = model.ask('kernel', query);
  return refusal?.includes('no GPU kernel') ? refusal : model.ask('estimate', query).error ?? refusal ?? '';
}

export class Model {
  // data: the schedules, machines and kernels; bytes: the module.
  static async load(data, bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: kNoSystem, env: kNoSystem });
    instance.exports._initialize?.();
    return new Model(instance.exports, data);
  }

  constructor(exports, data) {
    this.exports = exports;
    this.data = data;
    this.answers = new Map();
    for (const query of data.schedules) this.add('add_schedule', query);
    for (const query of data.machines) this.add('add_machine', query);
    for (const [path, text] of Object.entries(data.kernels)) this.addKernel(path, text);
    this.names = this.ask('names', '');
  }

  write(text) {
    const bytes = encoder.encode(text);
    const at = this.exports.buffer(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return bytes.length;
  }

  add(what, query) {
    if (!this.exports[what](this.write(query))) throw new Error(`${what} refused ${query.slice(0, 80)}`);
  }

  // The module reads what a kernel's file says of itself: the comment at its head.
  addKernel(path, text) {
    const name = path.replace(/^kernels\//, ''), bytes = encoder.encode(name).length;
    this.exports.add_kernel(bytes, this.write(name + text.match(/^(\/\/.*\n)*/)[0]));
  }

  // The answer to a question as an object; where the model refuses it, {error: sentence}. The last
  // answers are kept: scenes ask the same ones.
  ask(kind, query) {
    const key = kind + '?' + query;
    const known = this.answers.get(key);
    if (known) {
      this.answers.delete(key);  // the latest stands last
      this.answers.set(key, known);
      return known;
    }
    if (this.answers.size >= 64) this.answers.delete(this.answers.keys().next().value);
    let answer;
    try {
      const kindBytes = encoder.encode(kind).length;
      const length = this.exports.ask(kindBytes, this.write(kind + query));
      answer = JSON.parse(decoder.decode(
        new Uint8Array(this.exports.memory.buffer, this.exports.result(), length)));
    } catch (failure) {
      answer = { error: `The model stopped (${failure.message}); reload the page.` };
    }
    this.answers.set(key, answer);
    return answer;
  }
}
