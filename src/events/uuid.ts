import { V7Generator } from 'uuidv7';

/** Asking the system for random numbers takes longer than making a UUID of them, so many are asked for at once. */
const random = new Uint32Array(1024);
let used = random.length;

const generator = new V7Generator({
  nextUint32() {
    if (used === random.length) {
      crypto.getRandomValues(random);
      used = 0;
    }
    return random[used++] ?? 0;
  },
});

/**
 * Makes a UUID version 7 (RFC 9562, section 5.7). It sorts after all that this process made before, unless the clock was
 * set back by more than ten seconds.
 */
export function uuid(): string {
  return generator.generate().toString();
}
