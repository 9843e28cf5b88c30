import { describeFuzz } from '../security/fuzz';

describeFuzz(3000);
