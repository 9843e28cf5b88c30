import { HtmlValidate } from 'html-validate';

const validator = new HtmlValidate({ extends: ['html-validate:standard'] });

/** What is wrong with a page as HTML, as texts; nothing: it is valid. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId}: ${message} (line ${String(line)})`),
  );
}
