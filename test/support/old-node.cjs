/** Preloaded into a program: it takes this for the last version of Node 18. */
Object.defineProperty(process, 'version', { value: 'v18.20.8' });
