// Part of the build: puts the templates, style and script of the service pages beside the compiled code.
import { cp } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
await cp(new URL('src/asmx/pages/', root), new URL('dist/asmx/pages/', root), { recursive: true });
