import { describeFuzz } from './fuzz';

// Enough to see a mistake early; test/nightly/fuzz.test.ts makes 6,000 inputs.
describeFuzz(30);
