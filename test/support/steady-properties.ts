import { configureGlobal } from 'fast-check';

// Mutation tests run the same properties on each mutant, and need no smallest example.
configureGlobal({ seed: 20, numRuns: 30, endOnFailure: true });
