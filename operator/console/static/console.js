import {byId, fill, make} from './dom.js';
import {listen, askFor, token, forget, keep} from './feed.js';
import {drawMap, mapKey} from './map.js';
import {showJobs, showQueues} from './lists.js';
import {showJob, refreshJob, closeJob} from './job.js';
import {showWishes, startWishes} from './whatif.js';

// All that is known: sections as the operator sends them.
const data = {me: {}, totals: {}, map: {nodes: 0, names: [], levels: []}, queues: null, jobs: new Map(), nodes: []};
const jobSections = new Map();
const views = {map: drawMap, jobs: showJobs, queues: showQueues, whatif: showWishes};
let view = 'map';
let dirty = false;

function take(name, value) {
  const [kind, part] = name.split('/');
  if (kind === 'jobs') {
    // One of the same name that came after it may be told of in another section, before this one.
    const kept = (key) => data.jobs.get(key)?.section !== part;
    for (const key of jobSections.get(part) ?? []) if (!kept(key)) data.jobs.delete(key);
    jobSections.set(part, value.map((job) => `${job.ns}/${job.name}`));
    for (const job of value) data.jobs.set(`${job.ns}/${job.name}`, { ...job, section: part });
  } else if (kind === 'nodes') {
    value.forEach((node, i) => { data.nodes[Number(part) * 64 + i] = node; });
  } else if (kind in data) {
    data[kind] = value;
    if (kind === 'map') data.nodes.length = value.nodes;
  }
}

function show() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(() => {
    dirty = false;
    views[view](data, open);
    refreshJob(data);
  });
}

function open(key) {
  location.hash = `job=${encodeURIComponent(key)}`;
}

// The hash holds which view and job are shown: back works, and a link leads there. Never the token.
function follow() {
  const [what, value] = location.hash.slice(1).split('=');
  if (what === 'job' && value) return showJob(decodeURIComponent(value), data, open, () => go(view));
  closeJob();
  go(views[what] ? what : view);
}

function go(name) {
  view = name;
  if (!location.hash.startsWith('#job=')) history.replaceState(null, '', `#${name}`);
  for (const tab of byId('tabs').children) tab.setAttribute('aria-selected', String(tab.dataset.view === name));
  for (const id of Object.keys(views)) byId(id).hidden = id !== name;
  show();
}

function ask(why = '') {
  closeJob();
  for (const id of Object.keys(views)) byId(id).hidden = true;
  byId('tabs').hidden = byId('leave').hidden = true;
  byId('ask').hidden = false;
  byId('refused').textContent = why;
  byId('live').textContent = '';
  byId('token').focus();
}

function begin() {
  byId('ask').hidden = true;
  byId('tabs').hidden = byId('leave').hidden = false;
  byId('live').textContent = 'connecting';
  follow();
  listen({
    section: take,
    ready() {
      // A view that this user may see nothing of is no view.
      const seen = {map: data.me.nodes, queues: data.me.queues};
      for (const tab of byId('tabs').children) tab.hidden = seen[tab.dataset.view] === false;
      if (seen[view] === false) go('jobs');
      byId('live').textContent = `live, as ${data.me.user}`;
      byId('live').className = 'good';
      show();
    },
    trouble(why) {
      byId('live').textContent = why;
      byId('live').className = 'bad';
    },
    denied(why) {
      forget();
      ask(why);
    },
  });
}

byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  keep(byId('token').value.trim());
  byId('token').value = '';
  begin();
});
byId('leave').addEventListener('click', () => {
  forget();
  location.replace(location.pathname);
});
byId('tabs').addEventListener('click', (event) => {
  if (event.target.dataset.view) location.hash = event.target.dataset.view;
});
window.addEventListener('hashchange', follow);
window.addEventListener('resize', show);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
for (const id of ['colours', 'find', 'phase']) byId(id).addEventListener('input', show);
byId('more').addEventListener('click', () => { byId('more').dataset.pages = Number(byId('more').dataset.pages ?? 1) + 1; show(); });
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !token()) return;
  if (event.key === 'Escape' && !byId('job').hidden) return void (location.hash = view);
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.target.id === 'canvas' && mapKey(event, open)) return event.preventDefault();
  const name = Object.keys(views)[Number(event.key) - 1];
  if (name && !byId('tabs').querySelector(`[data-view=${name}]`).hidden) location.hash = name;
  if (event.key === '/') {
    event.preventDefault();
    location.hash = 'jobs';
    setTimeout(() => byId('find').focus());
  }
});
// Ages grow though nothing changes.
setInterval(() => { if (token() && view === 'jobs') show(); }, 10000);

startWishes(askFor);
if (token()) begin();
else ask();
