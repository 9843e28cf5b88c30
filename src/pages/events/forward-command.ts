import { shellWord } from '../../util/text';
import { isVisible } from '../curl-command';
import type { Filter } from './list-query';
import { markup } from './markup';

/** Most bytes of the command as markup: enough for a text and a type of full length, each of them quotes. */
const COMMAND_BYTES = 8000;

/**
 * Writes the command of the tool that posts some events to an address, for a POSIX shell: the event at a sequence, or all that a
 * search finds. It is HTML, and each word from an address is quoted.
 *
 * @returns undefined if it would be too long to be shown, or a person who reads it would not see all of it.
 */
export function forwardCommand(selected: { readonly sequence: string } | Filter): string | undefined {
  const options = 'sequence' in selected ? [`--event ${selected.sequence}`] : searchOptions(selected);
  const command = ['npm run --silent events -- --forward URL', ...options].join(' ');
  const { html, isCut } = markup(command, COMMAND_BYTES);
  return isCut || !isVisible(command) || command.includes('\r') ? undefined : html;
}

function searchOptions({ text, type, binding, sender, from, to }: Filter): string[] {
  const time = (value: number | undefined) => (value === undefined ? undefined : new Date(value).toISOString());
  const values = { text, type, binding, sender, since: time(from), until: time(to) };
  // A value that begins with a hyphen has to follow an equals sign.
  const options = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name}=${shellWord(value)}`,
  );
  return options.length === 0 ? ['--since 0'] : options;
}
