import { describeFuzz } from '../security/fuzz';

describeFuzz({ envelopes: 30_000, requests: 3000 });
