import {ago, byId, clock, count, fill, local, make} from './dom.js';
import {offer} from './lists.js';

export function showWishes(data) {
  const spaces = new Set([...(data.me.namespaces ?? []), ...[...data.jobs.values()].map((job) => job.ns)]);
  suggest(byId('namespaces'), [...spaces].sort());
  suggest(byId('queuenames'), (data.queues ?? []).map((queue) => queue.name));
  offer(byId('wish').elements.level, data.map.names, '(anywhere)');
}

function suggest(list, values) {
  if (list.children.length !== values.length) fill(list, ...values.map((value) => make('option', {value})));
}

export function startWishes(askFor) {
  byId('wish').addEventListener('submit', async (event) => {
    event.preventDefault();
    const answer = byId('answer');
    fill(answer, make('p', {}, 'One moment.'));
    try {
      fill(answer, ...words(await askFor('what-if', Object.fromEntries(new FormData(event.target)))));
    } catch (error) {
      fill(answer, make('p', {class: 'bad'}, error.message));
    }
  });
}

function words(forecast) {
  const {outcome, where, stops, reason, message, ahead, waiting, start, startsAt, after} = forecast;
  const list = (items) => make('ul', {}, ...items.map((item) => make('li', {}, item)));
  if (outcome === 'Starts') {
    return [make('p', {class: 'good'}, make('b', {}, 'It would start now'), ` on ${where}.`),
      ...(stops.length ? [make('p', {}, 'These would be preempted:'), list(stops.map((each) => `${each.job}, which loses ${(each.lostGpuSeconds / 3600).toFixed(1)} GPU hours${each.goesTo ? ` and moves to ${each.goesTo}` : ''}`))] : [])];
  }
  if (outcome === 'Refused') return [make('p', {class: 'bad'}, make('b', {}, `It would be refused: ${reason}.`), ` ${local(message)}`)];
  if (outcome !== 'Waits') return [make('p', {}, `Nothing would happen: ${outcome}.`)];
  return [make('p', {}, make('b', {}, `It would wait: ${reason}.`), ` ${local(message)}`),
    make('p', {}, `${count(ahead, 'job')} of its queue would be served before it; ${waiting} would wait there, this one included.`),
    make('p', {class: start ? 'start' : ''}, start ? `Expected start ${ago(start)}, at ${clock(start)}, on ${startsAt}.` : 'When it would start is not known: jobs without an estimate may run for ever.'),
    ...(after?.length ? [make('p', {}, 'After these have ended:'), list(after)] : [])];
}
