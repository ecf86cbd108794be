import {ago, byId, count, fill, local, make, secondsSince, span} from './dom.js';

const kPage = 200;
const waits = (job) => job.reason !== undefined;

export function showJobs(data, open) {
  const words = byId('find').value.toLowerCase().split(/\s+/).filter(Boolean);
  const phase = byId('phase').value;
  offer(byId('phase'), Object.keys(data.totals.phases ?? {}).sort(), 'all');
  const jobs = [...data.jobs.values()].filter((job) => {
    const text = `${job.ns}/${job.name} ${job.queue} ${job.phase} ${job.reason ?? ''}`.toLowerCase();
    return (!phase || job.phase === phase) && words.every((word) => text.includes(word));
  });
  const ended = (job) => job.phase === 'Succeeded' || job.phase === 'Failed';
  jobs.sort((a, b) => ended(a) - ended(b) || waits(b) - waits(a) || b.created.localeCompare(a.created) || a.name.localeCompare(b.name));
  const most = kPage * Number(byId('more').dataset.pages ?? 1);
  const {jobs: all = 0, listed = 0} = data.totals;
  fill(byId('count'), `${count(jobs.length, 'job')}${listed < all ? `, of the ${listed.toLocaleString()} listed; ${(all - listed).toLocaleString()} older ones are left out` : ''}`);
  byId('more').hidden = jobs.length <= most;
  const focused = document.activeElement?.closest('#rows button')?.dataset.key;
  fill(byId('rows'), ...jobs.slice(0, most).map((job) => row(job, open)));
  if (focused) [...document.querySelectorAll('#rows button')].find((each) => each.dataset.key === focused)?.focus({preventScroll: true});
  if (jobs.length === 0) fill(byId('rows'), make('tr', {}, make('td', {colspan: 7}, all ? 'No jobs match.' : 'No jobs that you may see.')));
}

function row(job, open) {
  const key = `${job.ns}/${job.name}`;
  const why = [job.reason && make('b', {}, job.reason), job.message && ` ${local(job.message)}`, job.start && make('span', {class: 'start'}, ` starts ${ago(job.start)}`)];
  if (job.permille !== undefined) why.push(make('progress', {max: 1000, value: job.permille}), ` ${Math.floor(job.permille / 10)} %`);
  return make('tr', {},
    make('td', {}, make('button', {class: 'link', 'data-key': key, onclick: () => open(key)}, make('span', {class: 'dim'}, `${job.ns}/`), job.name)),
    make('td', {}, make('span', {class: `phase p-${job.phase}`}, job.phase)), make('td', {class: 'queue'}, job.queue), make('td', {class: 'n'}, job.gpus),
    make('td', {class: 'n'}, job.ready), make('td', {class: 'age'}, span(secondsSince(job.created))), make('td', {class: 'why'}, ...why));
}

// The options of a list that people may just be using: only where they differ.
export function offer(select, values, none) {
  const now = [...select.options].slice(1).map((option) => option.value);
  if (now.join('\n') === values.join('\n')) return;
  const chosen = select.value;
  fill(select, make('option', {value: ''}, none), ...values.map((value) => make('option', {value}, value)));
  select.value = values.includes(chosen) ? chosen : '';
}

export function showQueues(data) {
  const section = byId('queues');
  if (!data.queues) return fill(section, make('p', {}, data.me.user === undefined ? '' : 'You may not list queues.'));
  if (data.queues.length === 0) return fill(section, make('p', {}, 'No queues are defined.'));
  // One scale for all, the whole cluster: a bar is as long as its percentage says.
  const most = Math.max(1000, ...data.queues.flatMap((queue) => [queue.share, queue.fairShare]));
  const below = (parent, depth) => data.queues.filter((queue) => queue.parent === parent).flatMap((queue) => [card(queue, depth, most), ...(depth < 16 ? below(queue.name, depth + 1) : [])]);
  const names = new Set(data.queues.map((queue) => queue.name));
  const roots = below('', 0);
  const lost = data.queues.filter((queue) => queue.parent && !names.has(queue.parent)).map((queue) => card(queue, 0, most));
  fill(section, make('div', {class: 'queues'}, ...roots, ...lost));
}

function card(queue, depth, most) {
  const bar = make('div', {class: 'share', role: 'img', 'aria-label': `holds ${queue.share / 10} % of the cluster, entitled to ${queue.fairShare / 10} %`});
  const held = make('i', {class: queue.share > queue.fairShare ? 'held over' : 'held'});
  held.style.width = `${(queue.share / most) * 100}%`;
  const fair = make('i', {class: 'fair'});
  fair.style.left = `min(${(queue.fairShare / most) * 100}%, 100% - 2px)`;
  bar.append(held, fair);
  const title = make('h3', {}, queue.name, make('span', {class: 'dim'}, ` weight ${queue.weight}${queue.parent ? `, below ${queue.parent}` : ''}`));
  const article = make('article', {}, title, bar,
    make('p', {}, `holds ${queue.share / 10} % of the cluster, entitled to ${queue.fairShare / 10} %`),
    make('p', {}, `${count(queue.used, 'GPU')}${queue.guaranteed ? `, ${queue.guaranteed} guaranteed` : ''}${queue.limit !== undefined ? `, at most ${queue.limit}` : ''} · ${count(queue.placed, 'job')} placed, ${queue.waiting} waiting`),
    queue.problem && make('p', {class: 'bad'}, queue.problem));
  article.style.marginInlineStart = `${depth * 1.5}rem`;
  return article;
}
