const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };

/** A piece of a page without its tags and escapes, as a reader sees it. */
export const shownText = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&(\w+|#39);/g, (_entity, name: string) => ENTITIES[name] ?? `&${name};`);

/** The text of the `code` element with an id, as a reader of the page sees it. */
export function codeOf(html: string, id: string): string {
  const escaped = new RegExp(`<code id="${id}">([^<]*)</code>`).exec(html)?.[1];
  if (escaped === undefined) throw new Error(`the page has no code with the id ${id}`);
  return shownText(escaped);
}

/** An address as the pages write it: lines break after its slashes. */
export const wrapped = (address: string): string => `${address.replaceAll('/', '/<wbr>')}<wbr>`;

/** A command that every shell takes as it stands: words, and texts between double quotes. */
export const ANY_SHELL = /^(?:curl|npx asmx-webhook events)(?: (?:[A-Za-z-]+|"[A-Za-z0-9 \-._~:/?&=,;@+*()#<>']*"))+$/;

/** The samples that the page of an operation shows for a binding. */
export function samplesOn(html: string, binding: string): { request: string; response: string; curl: string } {
  const slug = binding.toLowerCase().replace(/\W+/g, '-');
  return {
    request: codeOf(html, `${slug}-request`),
    response: codeOf(html, `${slug}-response`),
    // A page has none if no command fits every shell.
    get curl() {
      return codeOf(html, `${slug}-curl`);
    },
  };
}
