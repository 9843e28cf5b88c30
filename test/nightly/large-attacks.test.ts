import { describeAttacks } from '../security/attack-suite';
import { bodyAttacks, FULL_SIZE, xmlAttacks } from '../security/attacks/xml';

describeAttacks(FULL_SIZE, [...xmlAttacks(FULL_SIZE), ...bodyAttacks(FULL_SIZE)]);
