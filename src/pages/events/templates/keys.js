const search = document.getElementById('text');
const links = () => [...document.querySelectorAll('#rows .open')];
/** In these one types, until Escape leads out of them; the others use keys, too. */
const TYPED = 'input, select, textarea';
const USES_KEYS = `${TYPED}, summary, pre, .lined`;

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const isEscape = event.key === 'Escape';
  if (event.target.closest(isEscape ? TYPED : USES_KEYS) === null) {
    if (move(event.key)) event.preventDefault();
  } else if (isEscape) event.target.blur();
});

/** Does what a key stands for. Returns false for other keys. */
function move(key) {
  if (key === '/' && search !== null) search.select();
  else if (key === 'ArrowDown') return focusRow(1);
  else if (key === 'ArrowUp') return focusRow(-1);
  else if (key === 'ArrowLeft') return follow('newer');
  else if (key === 'ArrowRight') return follow('older');
  else if (key === 'Escape') return follow('back');
  else return false;
  return true;
}

/** Moves the focus by a row; the first time to the first one. Enter then follows the link. */
function focusRow(step) {
  const rows = links();
  const row = rows[Math.max(0, rows.indexOf(document.activeElement) + step)];
  if (row === undefined) return rows.length > 0;
  row.focus({ focusVisible: true });
  return true;
}

function follow(id) {
  const link = document.getElementById(id);
  if (link === null || link.hidden) return false;
  link.click();
  return true;
}
