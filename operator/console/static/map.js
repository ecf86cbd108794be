import {byId, count, fill, hueOf, make} from './dom.js';

// The cluster as a sheet of cells: one for each GPU, nodes in the boxes of their domains. A canvas, as 5,000 nodes
// are 40,000 cells.
let seen = null;     // the data drawn last
let places = [];     // of each node: {x, y, w, h, path}
let chosen = -1;     // index of the node under pointer or keys
const still = document.createElement('canvas');  // the sheet without what is chosen

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const columnsOf = (gpus) => (gpus <= 4 ? gpus : gpus <= 16 ? Math.ceil(gpus / 2) : 8);
const kHeading = 20;
const order = new Intl.Collator(undefined, {numeric: true});

// Boxes: the tightest level's domains; headings: those of the widest level that tells several apart.
function boxesOf(data) {
  const levels = data.map.levels;
  const tight = levels.at(-1)?.domains ?? [['', 0, data.map.nodes]];
  const wide = levels.length > 1 ? levels.find((level) => level.domains.length > 1 && level.domains.length < tight.length) : undefined;
  const headings = new Map((wide?.domains ?? []).map(([path, from]) => [from, path]));
  const boxes = tight.map(([path, from, to]) => ({path, from, to, heading: headings.get(from)}));
  // Each box below its heading, and both in the order in which people count: r9 before r10.
  let heading = '';
  for (const box of boxes) box.below = heading = box.heading ?? heading;
  boxes.sort((a, b) => order.compare(a.below, b.below) || order.compare(a.path, b.path));
  heading = '';
  for (const box of boxes) {
    box.heading = box.below !== heading ? box.below : undefined;
    heading = box.below;
  }
  return boxes;
}

// Where everything is with cells of this size; returns the height. What is below one heading stays together; as many
// headings stand side by side as the page is wide.
function arrange(data, boxes, width, cell) {
  const size = sizesOf(data, cell);
  let x = 0, y = 0, row = 0;
  places = new Array(data.nodes.length);
  for (const section of sectionsOf(boxes)) {
    const {w, h} = arrangeSection(section, width, size);
    if (x > 0 && x + w > width) {
      x = 0;
      y += row + size.pad;
      row = 0;
    }
    for (const box of section) moveTo(box, x, y, size);
    x += w + 2 * size.pad;
    row = Math.max(row, h);
  }
  return {height: y + row, ...size};
}

function sizesOf(data, cell) {
  const gap = cell > 5 ? 2 : 1;
  const widest = Math.max(1, ...data.nodes.map((node) => columnsOf(node?.[1] ?? 1)));
  const tallest = Math.max(1, ...data.nodes.map((node) => Math.ceil((node?.[1] ?? 1) / columnsOf(node?.[1] ?? 1))));
  return {gap, nodeW: widest * cell + 2 * gap, nodeH: tallest * cell + 2 * gap, pad: cell > 5 ? 6 : 3, label: cell > 5 ? 14 : 0};
}

function sectionsOf(boxes) {
  const sections = [];
  for (const box of boxes) {
    if (sections.length === 0 || box.heading !== undefined) sections.push([]);
    sections.at(-1).push(box);
  }
  return sections;
}

// Boxes from left to right, in rows as wide as the page at most; their places count from the section's own corner.
function arrangeSection(section, width, {nodeW, nodeH, pad, label}) {
  const heading = section[0].heading;
  let x = 0, y = heading === undefined ? 0 : kHeading, row = 0;
  let w = heading === undefined ? 0 : Math.min(width, 8 * heading.length);
  for (const box of section) {
    const nodes = box.to - box.from;
    const most = Math.max(1, Math.floor((width - 2 * pad) / nodeW));
    box.across = Math.min(most, Math.max(1, Math.ceil(Math.sqrt((nodes * nodeH * 1.8) / nodeW))));
    box.w = Math.max(box.across * nodeW + 2 * pad, label ? 60 : 0);
    box.h = Math.ceil(nodes / box.across) * nodeH + 2 * pad + label;
    if (x > 0 && x + box.w > width) {
      x = 0;
      y += row + pad;
      row = 0;
    }
    box.x = x;
    box.y = y;
    x += box.w + pad;
    w = Math.max(w, x - pad);
    row = Math.max(row, box.h);
  }
  return {w, h: y + row};
}

function moveTo(box, x, y, {nodeW, nodeH, pad, label}) {
  box.headingY = y;
  box.x += x;
  box.y += y;
  for (let i = 0; i < box.to - box.from; i += 1)
    places[box.from + i] = {x: box.x + pad + (i % box.across) * nodeW, y: box.y + pad + label + Math.floor(i / box.across) * nodeH, w: nodeW, h: nodeH, path: box.path};
}

function holdersOf(node) {
  const holders = [];
  for (let i = 4; i < node.length; i += 2) holders.push([node[i], node[i + 1]]);
  return holders;
}

function paintOf(who, colours) {
  if (who === '?') return colours.others;
  if (who === '*') return colours.pods;
  return `hsl(${hueOf(who)} ${colours.saturation} ${colours.light})`;
}

// A colour for each GPU: whose it is, or what a free one is good for.
function cellsOf(node, mode, colours, only) {
  const cells = [];
  for (const [who, n] of holdersOf(node))
    for (let i = 0; i < n && cells.length < node[1]; i += 1)
      cells.push(mode === 'fragments' ? colours.used : only && who !== only ? colours.dim : paintOf(who, colours));
  const free = mode !== 'fragments' ? colours.free : node[2] < node[1] ? colours.fragment : colours.whole;
  // What is neither held nor free (a node says so that is over-committed) stays blank.
  for (let i = 0; i < node[2] && cells.length < node[1]; i += 1) cells.push(free);
  while (cells.length < node[1]) cells.push(colours.used);
  return cells;
}

function coloursNow() {
  return Object.fromEntries(['others', 'pods', 'free', 'used', 'whole', 'fragment', 'dim', 'box', 'text', 'bad', 'saturation', 'light'].map((name) => [name, css(`--${name}`)]));
}

export function drawMap(data, open) {
  if (data !== seen) addListeners(open);
  seen = data;
  const canvas = byId('canvas');
  if (!data.me.nodes) {
    canvas.hidden = true;
    byId('spot').textContent = data.me.user === undefined ? '' : 'You may not list nodes, so there is no map. Your jobs are under Jobs.';
    return;
  }
  canvas.hidden = false;
  tellTotals(data);
  const width = Math.max(240, byId('sheet').clientWidth - 2);
  const room = Math.max(300, innerHeight - byId('sheet').getBoundingClientRect().top - 40);
  const boxes = boxesOf(data);
  const least = matchMedia('(pointer: coarse)').matches ? 4 : 2;
  let cell = 16, sheet;
  do sheet = arrange(data, boxes, width, cell); while (sheet.height > room && (cell -= cell > 4 ? 1 : 0.5) >= least);
  cell = Math.max(cell, least);
  const scale = devicePixelRatio || 1;
  canvas.width = still.width = width * scale;
  canvas.height = still.height = (sheet.height + 1) * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${sheet.height + 1}px`;
  const draw = still.getContext('2d');
  draw.scale(scale, scale);
  paint(draw, data, boxes, sheet, cell);
  mark();
}

function mark() {
  const draw = byId('canvas').getContext('2d');
  const scale = devicePixelRatio || 1;
  draw.resetTransform();
  draw.clearRect(0, 0, still.width, still.height);
  draw.drawImage(still, 0, 0);
  draw.scale(scale, scale);
  if (places[chosen]) outline(draw, places[chosen], css('--focus'), 2);
}

function paint(draw, data, boxes, sheet, cell) {
  const colours = coloursNow();
  const mode = document.querySelector('[name=colour]:checked').value;
  const only = byId('job').hidden ? '' : byId('job').dataset.key;
  draw.textBaseline = 'top';
  for (const box of boxes) {
    draw.fillStyle = colours.text;
    if (box.heading !== undefined) {
      draw.font = '600 13px system-ui, sans-serif';
      draw.fillText(box.heading, box.x, box.headingY + 3);
    }
    draw.strokeStyle = colours.box;
    draw.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
    if (sheet.label && box.path) {
      draw.font = '11px system-ui, sans-serif';
      draw.fillText(box.path.split('/').at(-1), box.x + sheet.pad, box.y + 4, box.w - 2 * sheet.pad);
    }
  }
  const side = cell > 3 ? cell - 1 : cell - 0.5;
  data.nodes.forEach((node, index) => {
    const place = places[index];
    if (!node || !place) return;
    const across = columnsOf(node[1]);
    cellsOf(node, mode, colours, only).forEach((colour, i) => {
      draw.fillStyle = colour;
      draw.fillRect(place.x + sheet.gap + (i % across) * cell, place.y + sheet.gap + Math.floor(i / across) * cell, side, side);
    });
    if (node[3]) outline(draw, place, colours.bad);
  });
  tellColours(mode, colours);
}

function outline(draw, place, colour, line = 1) {
  draw.strokeStyle = colour;
  draw.lineWidth = line;
  draw.strokeRect(place.x + 0.5, place.y + 0.5, place.w - 1, place.h - 1);
  draw.lineWidth = 1;
}

function tellTotals({totals, map}) {
  fill(byId('totals'), `${count(map.nodes, 'node')}, ${(totals.gpus - totals.free).toLocaleString()} of ${count(totals.gpus, 'GPU')} used, ${totals.fragments.toLocaleString()} of ${totals.free.toLocaleString()} free ones are fragments`);
}

function tellColours(mode, colours) {
  const names = mode === 'fragments' ? [['whole', 'free, on an empty node'], ['fragment', 'free, on a node in use'], ['used', 'used']]
    : [['free', 'free'], ['others', 'another namespace'], ['pods', 'other pods'], ['bad', 'outlined: not usable']];
  fill(byId('legend'), ...names.map(([name, words]) => {
    const patch = make('i');
    patch.style.background = colours[name];
    return make('span', {}, patch, words);
  }));
}

const kStates = ['not ready', 'cordoned', 'being deleted', 'suspected'];

function tellNode(open) {
  const node = seen.nodes[chosen];
  if (!node) return fill(byId('spot'));
  const states = kStates.filter((_, i) => node[3] & (1 << i));
  const who = holdersOf(node).map(([name, n]) => {
    if (name === '?') return ` · ${n} by another namespace`;
    if (name === '*') return ` · ${n} by other pods`;
    return make('span', {}, ` · ${n} by `, make('button', {class: 'link', onclick: () => open(name)}, name));
  });
  fill(byId('spot'), make('b', {}, node[0]), places[chosen]?.path ? ` in ${places[chosen].path}` : '', `: ${node[2]} of ${count(node[1], 'GPU')} free`, states.length ? `, ${states.join(', ')}` : '', ...who);
}

function choose(index, open) {
  if (index === chosen || !places[index]) return;
  chosen = index;
  mark();
  tellNode(open);
}

function nodeAt(event) {
  const x = event.offsetX, y = event.offsetY;
  return places.findIndex((place) => place && x >= place.x && x < place.x + place.w && y >= place.y && y < place.y + place.h);
}

const firstJob = (index) => holdersOf(seen.nodes[index] ?? []).map(([who]) => who).find((who) => who.includes('/'));

let listening = false;
function addListeners(open) {
  if (listening) return;
  listening = true;
  const canvas = byId('canvas');
  canvas.addEventListener('pointermove', (event) => choose(nodeAt(event), open));
  canvas.addEventListener('click', (event) => {
    const index = nodeAt(event);
    choose(index, open);
    // With a finger the first tap only tells who is there.
    if (event.pointerType !== 'touch' && firstJob(index)) open(firstJob(index));
  });
}

// Left and right go along the order of nodes, up and down to what is drawn above and below.
export function mapKey(event, open) {
  const at = places[chosen];
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (step) return choose(Math.min(places.length - 1, Math.max(0, chosen + step)), open), true;
  if (event.key === 'Enter' && firstJob(chosen)) return open(firstJob(chosen)), true;
  if (!at || !['ArrowUp', 'ArrowDown'].includes(event.key)) return false;
  const down = event.key === 'ArrowDown';
  let best = -1, least = Infinity;
  places.forEach((place, i) => {
    const far = down ? place.y - at.y : at.y - place.y;
    if (far <= 0) return;
    const cost = far * 4 + Math.abs(place.x - at.x);
    if (cost < least) { least = cost; best = i; }
  });
  choose(best, open);
  return true;
}
