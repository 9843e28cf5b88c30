import { describeFuzz } from '../security/fuzz';

describeFuzz({ envelopes: 100_000, requests: 3000 });
