import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS } from './clients';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'clients.md'), 'utf8');
const shown = [...page.matchAll(/<!-- (\S+) -->\n\n```\w+\n([^]*?)\n```/g)].map(([, file = '', code = '']) => ({
  file,
  code,
}));

describe('docs/clients.md', () => {
  it('has a row for every client that is tried', () => {
    for (const { name } of CLIENTS) expect(page).toContain(`| ${name} `);
  });

  it.each(shown)('shows the lines of $file as they are run', ({ file, code }) => {
    const source = readFileSync(join(__dirname, 'clients', file), 'utf8');
    const [, marked = ''] = /docs:begin\n([^]*?)\n[^\n]*docs:end/.exec(source) ?? [];
    expect(code.split('\n').map((line) => line.trim())).toEqual(
      marked
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    );
  });

  it('shows at least one client of each language', () => {
    expect(shown.length).toBeGreaterThanOrEqual(11);
  });
});
