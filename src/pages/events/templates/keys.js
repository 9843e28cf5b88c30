const search = document.getElementById('text');
const links = () => [...document.querySelectorAll('#rows .open')];

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const isTyping = event.target.closest('input, select, textarea, summary, pre') !== null;
  if (isTyping && event.key === 'Escape') event.target.blur();
  else if (!isTyping && move(event.key)) event.preventDefault();
});

/** Does what a key stands for. Returns false for other keys. */
function move(key) {
  if (key === '/' && search !== null) search.select();
  else if (key === 'ArrowDown') return focusRow(1);
  else if (key === 'ArrowUp') return focusRow(-1);
  else if (key === 'ArrowLeft') return follow('newer');
  else if (key === 'ArrowRight') return follow('older');
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
