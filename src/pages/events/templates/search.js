// Goes on with a search that has paused before its page was full, while the page is visible.

/** Pause between two parts of a search, in milliseconds. */
const SEARCH_PAUSE = 250;
const PAGE_ROWS = 50;

// If that fails, its link still leads on.
search().catch(() => undefined);

async function search() {
  for (;;) {
    const older = document.getElementById('older');
    const { length } = document.querySelectorAll('#rows [data-sequence]');
    if (older?.dataset.paused === undefined || length >= PAGE_ROWS) return;
    await visible();
    const { href } = older;
    const response = await fetch(href, { cache: 'no-store' });
    if (!response.ok) return;
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    // New rows that came meanwhile have changed where the next page begins, or how many were found before it.
    if (older.href === href) add(next);
    await new Promise((resolve) => setTimeout(resolve, SEARCH_PAUSE));
  }
}

/** Adds what the next part has found, and says how far the search came. */
function add(next) {
  const rows = document.getElementById('rows');
  rows.append(...next.querySelectorAll('#rows > tr'));
  const isEmpty = rows.children.length === 0;
  for (const id of ['progress', 'older', ...(isEmpty ? ['empty'] : [])])
    document.getElementById(id).replaceWith(next.getElementById(id));
  document.getElementById('list').hidden = isEmpty;
  if (!isEmpty) document.getElementById('empty')?.remove();
  document.dispatchEvent(new Event('rows'));
}

async function visible() {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}
