import { shortened } from '../util/shortened';
import { visible } from '../util/visible';

/** A text of others in a message: short, on one line, and without what a terminal would obey. */
export function quoted(text: string): string {
  return visible(JSON.stringify(shortened(text)).slice(1, -1));
}
