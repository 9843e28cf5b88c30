// Prints the bill of materials of the package, in CycloneDX: everything that runs with the service, and nothing that only
// builds or tests it: node scripts/sbom.mjs > sbom.json
//
// `npm sbom --omit dev` leaves out what a development dependency needs too, so npm is shown a copy of the project that has
// no such dependencies.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const project = read('package.json');
delete project.devDependencies;
const { packages, ...lock } = read('package-lock.json');
const installed = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => !dev));
delete installed[''].devDependencies;

const folder = mkdtempSync(join(tmpdir(), 'webhook-sbom-'));
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages: installed }));
  execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
} finally {
  rmSync(folder, { recursive: true });
}

function read(name) {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}
