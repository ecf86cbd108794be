// The one place that knows the token: in this tab's memory, sent in a header, never in an address.
const kKey = 'trainyard-token';
const kSilence = 40000;  // the operator says something every 15 s
let stop = () => {};

export const token = () => sessionStorage.getItem(kKey);
export const keep = (value) => sessionStorage.setItem(kKey, value);
export function forget() {
  sessionStorage.removeItem(kKey);
  stop();
}

const headers = () => ({Authorization: `Bearer ${token()}`});

async function complaintOf(response) {
  try {
    return (await response.json()).message ?? `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status}`;
  }
}

// The JSON of an answer; throws an Error with the operator's words.
export async function askFor(path, values) {
  const response = await fetch(`api/${path}?${new URLSearchParams(values)}`, {headers: headers(), cache: 'no-store'});
  if (!response.ok) throw new Error(await complaintOf(response));
  return response.json();
}

// Reads events for ever. By fetch, as EventSource can send no token but in the address, where logs keep it.
export async function listen(to) {
  stop();
  const ended = new AbortController();
  stop = () => ended.abort();
  for (let pause = 1000; !ended.signal.aborted; pause = Math.min(pause * 2, 15000)) {
    const attempt = new AbortController();
    ended.signal.addEventListener('abort', () => attempt.abort());
    try {
      const response = await fetch('api/stream', {headers: headers(), cache: 'no-store', signal: attempt.signal});
      if (response.status === 401) return to.denied(await complaintOf(response));
      if (!response.ok) throw new Error(await complaintOf(response));
      await read(response.body.getReader(), attempt, to, () => { pause = 500; });
    } catch (error) {
      if (ended.signal.aborted) return;
      if (error.message === 'denied') return to.denied('The token is no longer valid.');
      if (error.message !== 'again') to.trouble(`not live: ${error.message}`);
    }
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

async function read(reader, attempt, to, good) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const silence = setTimeout(() => attempt.abort(), kSilence);
    const {done, value} = await reader.read().finally(() => clearTimeout(silence));
    if (done) throw new Error('the operator ended the connection');
    text += decoder.decode(value, {stream: true});
    const events = text.split('\n\n');
    text = events.pop();
    for (const event of events) {
      const [, name, json] = /^event: ([^\n]*)\ndata: ([^\n]*)$/.exec(event) ?? [];
      if (name === 'ready') { good(); to.ready(); }
      else if (name === 'denied' || name === 'again') throw new Error(name);
      else if (name === 'trouble') throw new Error(JSON.parse(json));
      else if (name) to.section(name, JSON.parse(json));
    }
  }
}
