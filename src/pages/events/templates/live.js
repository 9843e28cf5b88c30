// Adds new rows: waits for an event with GetEvents, then fetches the rows as HTML. For refused calls, for which no call waits, it
// fetches them every two seconds.

/** Shortest time between two requests for rows, in milliseconds: many events arrive together. */
const PAUSE = 250;
/** The same in the background, and for rows for which no call waits. */
const LONG_PAUSE = 2000;
/** How long GetEvents is asked to wait. */
const WAIT = '30s';
/** Pauses after a failure, in milliseconds: the first, and the longest. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 15_000;
const STATES = { live: '', off: 'is off', lost: 'Connection lost. Trying again…' };
/** New rows are counted up to this number. */
const MOST_COUNTED = 99;

const live = document.getElementById('live');
if (live !== null) start(live);

function start({ dataset }) {
  const button = document.getElementById('live-button');
  const status = document.getElementById('live-status');
  const rows = document.getElementById('rows');
  let after = dataset.after;
  let isOn = true;
  let running;
  const { title } = document;
  /** Rows that came while the page was in the background, and whether these are not all. */
  let unseen = 0;
  let areMore = false;
  /** Rows that were found and had to make room. */
  let removed = 0;

  live.hidden = false;
  button.addEventListener('click', () => {
    isOn = !isOn;
    update();
  });
  document.addEventListener('visibilitychange', () => {
    unseen = 0;
    areMore = false;
    document.title = title;
  });
  // A page that comes back from the browser's memory goes on.
  addEventListener('pagehide', () => running?.abort());
  addEventListener('pageshow', update);
  update();

  /** Starts or stops following, depending on the button. */
  function update() {
    if (isOn && (running === undefined || running.signal.aborted)) {
      running = new AbortController();
      void follow(running.signal);
    } else if (!isOn) running?.abort();
    show(isOn ? 'live' : 'off');
  }

  async function follow(signal) {
    let retry = FIRST_RETRY;
    while (!signal.aborted) {
      try {
        const began = performance.now();
        if (dataset.endpoint === undefined || (await waitForEvent(signal))) await addRows(signal);
        retry = FIRST_RETRY;
        show('live');
        const pause = dataset.endpoint === undefined || document.hidden ? LONG_PAUSE : PAUSE;
        await delay(pause - (performance.now() - began));
      } catch {
        if (signal.aborted) return;
        show('lost');
        await delay(retry);
        retry = Math.min(2 * retry, LAST_RETRY);
      }
    }
  }

  /** Waits for an event after the last one seen. Resolves to whether there is one. */
  async function waitForEvent(signal) {
    const query = new URLSearchParams({ after, limit: '1', wait: WAIT });
    const response = await get(`${dataset.endpoint}/GetEvents?${query}`, 'application/json', signal);
    return (await response.json()).length > 0;
  }

  async function addRows(signal) {
    const query = new URLSearchParams(location.search);
    query.set('events', dataset.rows ?? 'rows');
    query.set('after', after);
    const response = await get(`?${query}`, 'text/html', signal);
    const template = document.createElement('template');
    template.innerHTML = await response.text();
    after = response.headers.get('X-Events-After') ?? after;
    document.getElementById('count').textContent = response.headers.get('X-Events-Count');
    insert([...template.content.children]);
  }

  function insert(candidates) {
    const shown = () => [...rows.querySelectorAll('[data-sequence]')];
    const known = new Set(shown().map((row) => row.dataset.sequence));
    const added = candidates.filter((row) => !known.has(row.dataset.sequence));
    if (added.length === 0) return;
    // Rows of calls that a new one counts in.
    const replaced = new Set(added.flatMap((row) => row.dataset.replaces?.split(' ') ?? []));
    for (const row of shown()) if (replaced.has(row.dataset.sequence)) row.remove();
    for (const row of added) row.className = 'new';
    rows.prepend(...added);
    const most = Number(dataset.max ?? 50);
    if (document.hidden) count(added.length, most);
    const surplus = shown().slice(most);
    const hadFocus = surplus.some((row) => row.contains(document.activeElement));
    for (const row of surplus) row.remove();
    removed += surplus.length;
    if (hadFocus) shown().at(-1).querySelector('a, summary')?.focus();
    document.getElementById('list').hidden = false;
    document.getElementById('empty')?.remove();
    const found = document.getElementById('found');
    if (found !== null) found.textContent = Number(found.textContent) + added.length;
    leadOn(surplus.length > 0 ? shown().at(-1).dataset.sequence : undefined, found);
    document.dispatchEvent(new Event('rows'));
  }

  /** Counts new rows in the title. There may be more where as many have come as fit. */
  function count(added, most) {
    unseen += added;
    areMore ||= added >= most || unseen > MOST_COUNTED;
    document.title = `(${Math.min(unseen, MOST_COUNTED)}${areMore ? '+' : ''}) ${title}`;
  }

  /** Makes the next page begin where this one now ends, and count on from there. */
  function leadOn(last, found) {
    const older = document.getElementById('older');
    if (older === null || (last === undefined && (found === null || older.hidden))) return;
    const { search } = last === undefined ? older : location;
    const query = new URLSearchParams(search);
    query.set('events', '');
    if (last !== undefined) query.set('before', BigInt(last));
    if (found !== null) query.set('found', Number(found.textContent) - removed);
    older.href = `?${query}`;
    older.hidden = false;
  }

  function show(state) {
    if (live.dataset.state === state) return;
    live.dataset.state = state;
    status.textContent = STATES[state];
    button.setAttribute('aria-pressed', String(isOn));
  }
}

async function get(url, accept, signal) {
  const response = await fetch(url, { headers: { Accept: accept }, cache: 'no-store', signal });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

function delay(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
