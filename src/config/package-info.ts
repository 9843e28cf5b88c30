import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// require-node.ts loads this file on every version of Node, so it may use only what old ones know.
const { version, engines } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of this program, as package.json says. */
export const VERSION = version;

/** The oldest version of Node that runs this program, as package.json says: `20.19`. */
export const OLDEST_NODE = engines.node.replace('>=', '');
