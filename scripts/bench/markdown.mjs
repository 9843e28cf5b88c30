/**
 * Writes a Markdown table, laid out as Prettier does it.
 *
 * @param rows - the head first.
 * @param texts - how many of the first columns hold text, which stands on the left; figures stand on the right.
 */
export function table(rows, texts = 1) {
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((row) => row[column].length)));
  const isText = (column) => column < texts;
  const padded = rows.map((row) =>
    row.map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))),
  );
  const rule = widths.map((width, column) => (isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head, ...body] = padded;
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
