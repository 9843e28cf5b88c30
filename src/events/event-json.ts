/**
 * Writes an event of the log in the JSON format of CloudEvents 1.0, with its position as the extension `sequence`.
 *
 * @param attributes - as in `NewEvent.attributes`.
 * @param data - one member, as in `NewEvent.data` or in its place; undefined: none.
 */
export function eventJson(attributes: string, sequence: string, data: string | undefined): string {
  return `${attributes.slice(0, -1)},"sequence":"${sequence}"${data === undefined ? '' : `,${data}`}}`;
}
