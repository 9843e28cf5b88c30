// Collects the licences of everything that the package depends on in THIRD-PARTY, which is packed with it:
// node scripts/third-party.mjs. It runs before `npm pack`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));

const LICENCE_FILE = /^(licen[cs]e|copying|notice)\b/i;
const RULE = '-'.repeat(80);

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const sections = Object.entries(packages)
  .filter(([folder, { dev, devOptional }]) => folder !== '' && !dev && !devOptional)
  .map(([folder, { version, license }]) => {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (license === undefined) throw new Error(`package-lock.json does not say the licence of ${name}.`);
    return [`${name} ${version}`, `Licence: ${license}`, ...licenceTexts(folder)].join('\n\n');
  });
const introduction = 'WebHook uses these packages. Each is followed by its licence.';
writeFileSync('THIRD-PARTY', `${[introduction, ...sections].join(`\n\n${RULE}\n`)}\n`);

/** The texts of the licence files in a folder. */
function licenceTexts(folder) {
  try {
    const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
    if (names.length === 0) return ['The package has no file with its licence.'];
    return names.sort().map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
  } catch (error) {
    if (error.code === 'ENOENT') return ['It is installed on other platforms only.'];
    throw error;
  }
}
