import { HtmlValidate } from 'html-validate';

/** What is wrong with a page as HTML, as texts; nothing: it is valid. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await new HtmlValidate({ extends: ['html-validate:standard'] }).validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId}: ${message} (line ${String(line)})`),
  );
}
