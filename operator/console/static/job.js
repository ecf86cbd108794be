import {ago, byId, clock, count, fill, hueOf, local, make, span} from './dom.js';
import {askFor} from './feed.js';

// One job, beside the view or in its place on a phone.
let key = '';
let row = '';        // the job's row when it was asked for
let askedAt = 0;
let back = () => {};

export function closeJob() {
  key = '';
  byId('job').hidden = true;
  document.body.classList.remove('with-job');
}

export function showJob(name, data, open, close) {
  back = close;
  if (name === key) return;
  key = name;
  row = '';
  askedAt = 0;
  const aside = byId('job');
  aside.hidden = false;
  aside.dataset.key = name;
  document.body.classList.add('with-job');
  fill(aside, head(), make('p', {}, 'One moment.'));
  aside.focus();
  back();
  refreshJob(data);
}

// Asks again when its row changed, and every ten seconds.
export async function refreshJob(data) {
  const asked = key;
  const now = JSON.stringify(data.jobs.get(key) ?? null);
  if (!asked || (now === row && Date.now() - askedAt < 10000)) return;
  row = now;
  askedAt = Date.now();
  const [namespace, name] = asked.split('/');
  try {
    const job = await askFor('job', {namespace, name});
    if (asked === key) render(job);
  } catch (error) {
    if (asked === key) fill(byId('job'), head(), make('p', {class: 'bad'}, error.message));
  }
}

function head() {
  const patch = make('i', {class: 'patch'});
  patch.style.background = `hsl(${hueOf(key)} 60% 50%)`;
  const [ns, name] = key.split('/');
  return make('div', {class: 'head'}, make('h2', {}, patch, make('span', {class: 'dim'}, `${ns}/`), name), make('button', {onclick: () => { location.hash = document.querySelector('#tabs [aria-selected=true]').dataset.view; }, 'aria-label': 'Close'}, '✕'));
}

const facts = (...rows) => make('dl', {}, ...rows.filter(([, value]) => value !== undefined && value !== '' && value !== 0).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));

function render(job) {
  const {pending, progress, change, lastFailure: last, elastic} = job;
  const nodes = new Set(job.places.map(([node]) => node));
  const roles = job.roles.map((role) => `${count(role.members, role.name)} × ${count(role.gpus, 'GPU')}`).join(', ');
  fill(byId('job'), head(),
    make('p', {}, make('span', {class: `phase p-${job.phase}`}, job.phase), ` ${job.ready ? `${job.ready} ready` : ''}`),
    pending && make('div', {class: 'card'}, make('b', {}, pending.reason), ` since ${ago(pending.since)}`, make('p', {}, local(pending.message)),
      pending.start && make('p', {class: 'start'}, `Expected start ${ago(pending.start)}, at ${clock(pending.start)}`),
      pending.blockedBy.length > 0 && make('ul', {}, ...pending.blockedBy.map((each) => make('li', {}, `${each.job}: ${count(each.gpus, 'GPU')} on ${count(each.nodes, 'node')}${each.until ? `, until about ${clock(each.until)}` : ''}`)))),
    change && make('p', {class: 'card'}, `${change.kind}: ${change.phase}${change.victims ? `, ${count(change.victims, 'pod')} of other jobs must end first` : ''}${change.why ? `. ${change.why}` : ''}`),
    facts(['Asks for', roles], ['GPUs', job.gpus], ['Queue', job.queue], ['Priority', job.priority], ['Within one', job.required],
      ['Elastic', elastic && `${elastic.role}: ${elastic.min} to ${elastic.max}`], ['Estimate', job.estimateSeconds && span(job.estimateSeconds)],
      ['Preemptible', job.preemptible ? 'yes' : 'no'],
      ['Progress', progress && `step ${progress.step.toLocaleString()}${progress.totalSteps ? ` of ${progress.totalSteps.toLocaleString()}` : ''}${progress.milliSamplesPerSecond ? `, ${Math.round(progress.milliSamplesPerSecond / 1000).toLocaleString()} samples/s` : ''}, ${ago(progress.at)}`],
      ['Used', job.gpuSeconds && `${(job.gpuSeconds / 3600).toFixed(1)} GPU hours`], ['Restarts', job.restarts], ['Preempted', job.preemptions && `${count(job.preemptions, 'time')}${job.preemptedBy ? `, last by ${job.preemptedBy}` : ''}`],
      ['Waited for its share', job.fairShareDelay && span(job.fairShareDelay)], ['Waited for free nodes', job.fragmentationDelay && span(job.fragmentationDelay)],
      ['Last failure', last && `${last.class}: ${local(last.message)} (${last.pod}${last.node ? ` on ${last.node}` : ''})`]),
    make('h3', {}, 'Timeline'), make('ol', {class: 'timeline'}, ...job.timeline.map((each) => moment(each, job.phase))),
    nodes.size > 0 && make('details', {}, make('summary', {}, `On ${count(nodes.size, 'node')}`), make('ul', {}, ...job.places.map(([node, role, n]) => make('li', {}, `${node}: ${n} × ${role}`)))),
    make('details', {}, make('summary', {}, 'Conditions'), make('ul', {}, ...job.conditions.map((each) => make('li', {}, make('b', {}, `${each.type}=${each.true ? 'True' : 'False'}`), ` ${each.reason} ${local(each.message)}`)))));
}

// What a moment is about decides its mark.
const kKinds = [['bad', /^(Fail|MemberFail|Abort|MemberLost|Stalled|ResizeFailed|DeadlineExceeded)/], ['stop', /^(Preempt|Moved|Suspended|Stop)/], ['change', /^(Resiz|Restart|not Resiz|not Restart)/],
  ['relax', /^Relaxed/], ['good', /^(Placed|Scheduled|Running|Succeeded|Finished)/], ['wait', /^(Queued|Waiting|not Scheduled|Created|Expected)/]];

function moment({time, what, why, ahead}, phase) {
  const failed = what.startsWith('Finished') && phase === 'Failed';
  const kind = failed ? 'bad' : kKinds.find(([, words]) => words.test(what))?.[0] ?? 'plain';
  return make('li', {class: `k-${kind}${ahead ? ' ahead' : ''}`}, make('b', {}, what), make('time', {datetime: time, title: clock(time)}, ` ${ago(time)}`), why && make('p', {}, local(why)));
}
