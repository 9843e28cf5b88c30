import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variablesOf } from '../../src/config/variable';
import { VARIABLES } from '../../src/config/variables';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'configuration.md'), 'utf8');

/** The rows of the page's tables, with the heading above each: `Address | HOST | 127.0.0.1 | address to listen on`. */
const documented = page.split(/^## /m).flatMap((section) => {
  const [heading = ''] = section.split('\n');
  const rows = [...section.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\| (.*?) +\|$/gm)];
  return rows.map((cells) => [heading, ...cells.slice(1)].join(' | '));
});

describe('docs/configuration.md', () => {
  it('has a row for every variable, with its group, default and description, and no other', () => {
    const defined = variablesOf(VARIABLES).map(({ group, name, default: text, otherwise, description }) =>
      [group, name, text === undefined ? otherwise : `\`${text}\``, description].join(' | '),
    );
    expect(documented).toEqual(defined);
  });

  it('has table rows of less than 120 characters', () => {
    expect(page.split('\n').filter((line) => line.startsWith('|') && line.length >= 120)).toEqual([]);
  });

  it('names the file variable of each secret', () => {
    for (const { name, secret } of variablesOf(VARIABLES)) expect(page.includes(`${name}_FILE`)).toBe(secret);
  });
});
