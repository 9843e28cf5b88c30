import { describeAttacks } from '../security/attack-suite';
import { SLOW_ATTACKS } from '../security/attacks/slow';
import { bodyAttacks, FULL_SIZE, xmlAttacks } from '../security/attacks/xml';

describeAttacks(FULL_SIZE, [...xmlAttacks(FULL_SIZE), ...bodyAttacks(FULL_SIZE), ...SLOW_ATTACKS]);
