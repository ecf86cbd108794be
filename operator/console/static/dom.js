// All that others wrote reaches the page here, as text: nothing is ever parsed as markup.

export const byId = (id) => document.getElementById(id);

// What is not there (undefined, null, false) is left out; all else but elements is text.
const shown = (children) => children.filter((child) => child !== undefined && child !== null && child !== false).map((child) => (child instanceof Node ? child : String(child)));

// make('td', {class: 'n'}, 'text', otherElement): attributes are ours, children are text or elements.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...shown(children));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...shown(children));
}

// "3 h 20 min", of seconds.
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const secondsSince = (time) => (Date.now() - Date.parse(time)) / 1000;
export const ago = (time) => (secondsSince(time) >= 0 ? `${span(secondsSince(time))} ago` : `in ${span(-secondsSince(time))}`);
export const clock = (time) => new Date(time).toLocaleString(undefined, {month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit'});
// Times inside of sentences, which the operator writes in UTC, as the page writes all others.
export const local = (text) => text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, clock);
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

// The same colour for the same text, on every screen.
export function hueOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  // The upper bits: those below hardly differ between "job-1" and "job-2".
  return Math.round(((Math.imul(hash ^ (hash >>> 15), 2246822507) >>> 8) / 16777216) * 360);
}
