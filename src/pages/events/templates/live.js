// Keeps an open list up to date from its page, loaded anew: whenever GetEvents tells of an event or, for refused calls, for which no
// call waits, every two seconds. Goes on with a search that has paused before its page was full.

/** Shortest time between two requests, in milliseconds: many events arrive together. */
const PAUSE = 250;
/** The same in the background, and for rows for which no call waits. */
const LONG_PAUSE = 2000;
/** How long GetEvents is asked to wait. */
const WAIT = '30s';
/** Pauses after a failure, in milliseconds: the first, and the longest. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 15_000;
const STATES = { live: '', off: 'is off', lost: 'Connection lost. Trying again…' };
const PAGE_ROWS = 50;

const live = document.getElementById('live');
const rows = document.getElementById('rows');
if (live !== null) start(live);
// If that fails, its link still leads on.
search().catch(() => undefined);

function start({ dataset }) {
  const { endpoint } = dataset;
  const isNarrowed = dataset.narrowed !== undefined;
  const button = document.getElementById('live-button');
  const status = document.getElementById('live-status');
  const { title } = document;
  let isOn = true;
  let running;
  /** Rows that came while the page was in the background. */
  let unseen = 0;

  live.hidden = false;
  button.addEventListener('click', () => {
    isOn = !isOn;
    update();
  });
  document.addEventListener('visibilitychange', () => {
    unseen = 0;
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
        if (endpoint === undefined || (await waitForEvent(signal))) insert(await newPage(signal));
        retry = FIRST_RETRY;
        show('live');
        const pause = endpoint === undefined || document.hidden ? LONG_PAUSE : PAUSE;
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
    const query = new URLSearchParams({ after: rows.dataset.after, limit: '1', wait: WAIT });
    const response = await get(`${endpoint}/GetEvents?${query}`, signal, 'application/json');
    return (await response.json()).length > 0;
  }

  /** Loads the page again; of a search, which may take long, only what is new. */
  function newPage(signal) {
    const query = new URLSearchParams(location.search);
    if (query.get('events') === 'find') query.set('events', '');
    if (isNarrowed) query.set('after', rows.dataset.after);
    return pageAt(`?${query}`, signal);
  }

  function insert(page) {
    const next = page.getElementById('rows');
    rows.dataset.after = next.dataset.after;
    const known = new Map(shown().map((row) => [row.dataset.row, row]));
    const found = [...next.querySelectorAll('[data-row]')];
    const added = found.filter((row) => !known.has(row.dataset.row));
    for (const row of found) known.delete(row.dataset.row);
    document.getElementById('count').replaceWith(page.getElementById('count'));
    if (added.length === 0) return;
    for (const row of added) row.className = 'new';
    rows.prepend(...added);
    const surplus = isNarrowed ? shown().slice(PAGE_ROWS) : [...known.values()];
    const hadFocus = surplus.some((row) => row.contains(document.activeElement));
    for (const row of surplus) row.remove();
    if (hadFocus) shown().at(-1).querySelector('a, summary')?.focus();
    const older = document.getElementById('older');
    if (!isNarrowed) older?.replaceWith(page.getElementById('older'));
    else if (surplus.length > 0) {
      const query = new URLSearchParams(location.search);
      query.set('events', '');
      // The row of an event is named by its position.
      query.set('before', shown().at(-1).dataset.row);
      Object.assign(older, { href: `?${query}`, hidden: false });
    }
    if (document.hidden) {
      unseen += added.length;
      document.title = `(${unseen < PAGE_ROWS ? unseen : `${PAGE_ROWS}+`}) ${title}`;
    }
    changed();
  }

  function show(state) {
    if (live.dataset.state === state) return;
    live.dataset.state = state;
    status.textContent = STATES[state];
    button.setAttribute('aria-pressed', String(isOn));
  }
}

async function search() {
  for (;;) {
    const older = document.getElementById('older');
    if (older?.dataset.paused === undefined || shown().length >= PAGE_ROWS) return;
    await visible();
    const { href } = older;
    const next = await pageAt(href);
    // New rows that came meanwhile may have changed where the next page begins.
    if (document.getElementById('older').href === href) {
      rows.append(...next.querySelectorAll('#rows > tr'));
      for (const id of ['progress', 'older']) document.getElementById(id).replaceWith(next.getElementById(id));
      if (shown().length === 0) document.getElementById('empty').replaceWith(next.getElementById('empty'));
      changed();
    }
    await delay(PAUSE);
  }
}

function shown() {
  return [...rows.querySelectorAll('[data-row]')];
}

/** Shows what depends on the rows. */
function changed() {
  const { length } = shown();
  document.getElementById('list').hidden = length === 0;
  if (length > 0) document.getElementById('empty')?.remove();
  const found = document.getElementById('found');
  if (found !== null) found.textContent = length;
  document.dispatchEvent(new Event('rows'));
}

async function pageAt(url, signal) {
  return new DOMParser().parseFromString(await (await get(url, signal)).text(), 'text/html');
}

async function get(url, signal, accept = 'text/html') {
  const response = await fetch(url, { headers: { Accept: accept }, cache: 'no-store', signal });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

async function visible() {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

function delay(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
