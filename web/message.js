// The model's messages, as a page shows them.
import { digits } from 'tilewise/draw.js';

// Without the part of the library that speaks.
export function plain(message) { return message.replace(/^(explain|simulate|matmul|count|run|mma|schedule( "[^"]*")?): /, ''); }

// With groups of digits and a full stop, to stand inside a sentence.
export function ended(message) {
  const text = plain(message).replace(/(?<!["\w.^])\d{5,}(?!["\w.])/g, digits);
  return text === '' || /[.!?]$/.test(text) ? text : text + '.';
}

// As a sentence of its own, which starts with a capital where it starts with a word of prose.
export function sentence(message) {
  const text = ended(message);
  return /^(this|the|no|a|at|with) /.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
}

export function plural(number, word, words = word + 's') { return number === 1 ? word : words; }
