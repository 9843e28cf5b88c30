// Shows times in local time instead of UTC, for as long as this browser remembers that it was asked to.

const KEY = 'local-times';
const button = document.getElementById('zone');
/** Rows that stand under the headings of their days. */
const rows = document.querySelector('#rows[data-days]');
const inputs = [...document.querySelectorAll('input[type="datetime-local"]')];
let isLocal = remembered();

button.hidden = false;
button.addEventListener('click', () => {
  isLocal = !isLocal;
  try {
    localStorage.setItem(KEY, isLocal);
  } catch {
    // Then it lasts as long as the page.
  }
  for (const input of inputs) input.value = converted(input.value);
  show();
});
// The service takes them in UTC.
inputs[0]?.form.addEventListener('formdata', ({ formData }) => {
  if (!isLocal) return;
  for (const { name, value } of inputs) formData.set(name, value && inUtc(new Date(value)).replace(' ', 'T'));
});
document.addEventListener('rows', show);
if (isLocal) {
  for (const input of inputs) input.value = converted(input.value);
  show();
}

function show() {
  button.setAttribute('aria-pressed', isLocal);
  for (const zone of document.querySelectorAll('[data-zone]')) zone.textContent = isLocal ? 'local' : 'UTC';
  for (const element of document.querySelectorAll('time')) {
    const time = new Date(element.dateTime);
    element.dataset.utc ??= element.textContent;
    const { utc } = element.dataset;
    const start = inUtc(time).indexOf(utc);
    element.textContent = isLocal ? inLocal(time).slice(start, start + utc.length) : utc;
  }
  if (rows !== null) headDays();
}

/** Puts the heading of its day above the first row of each. */
function headDays() {
  for (const heading of rows.querySelectorAll('.day')) heading.remove();
  let last;
  for (const row of [...rows.children]) {
    const time = new Date(row.querySelector('time').dateTime);
    // As the service writes it: `Sun, 22 Nov 2026`.
    const day = (isLocal ? local(time) : time).toUTCString().slice(0, 16);
    if (day !== last) {
      const cell = document.createElement('th');
      Object.assign(cell, { scope: 'rowgroup', colSpan: row.children.length, textContent: day });
      const heading = document.createElement('tr');
      heading.className = 'day';
      heading.append(cell);
      row.before(heading);
    }
    last = day;
  }
}

/** The value of an input in the zone that is shown now, from that in the other zone. */
function converted(value) {
  if (value === '') return '';
  const text = isLocal ? inLocal(new Date(`${value}Z`)) : inUtc(new Date(value));
  return text.replace(' ', 'T').replace(/(?::00)?\.000$/, '');
}

/** A time as the pages write it: `2026-11-22 14:02:07.123`. */
function inUtc(time) {
  return time.toISOString().replace('T', ' ').slice(0, -1);
}

function inLocal(time) {
  return inUtc(local(time));
}

/** The time whose text in UTC is that of a time in the local zone. */
function local(time) {
  return new Date(time - time.getTimezoneOffset() * 60_000);
}

function remembered() {
  try {
    return localStorage.getItem(KEY) === 'true';
  } catch {
    return false;
  }
}
