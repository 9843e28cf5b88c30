import { describeFuzz } from './fuzz';

// Enough to see a mistake early; test/nightly/fuzz.test.ts makes more than 30,000 inputs.
describeFuzz({ envelopes: 500, requests: 30 });
