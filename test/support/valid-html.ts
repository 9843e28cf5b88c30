import { HtmlValidate, StaticConfigLoader } from 'html-validate';

const loader = new StaticConfigLoader({ extends: ['html-validate:standard'] });
// Once: to resolve the configuration for each page takes longer than the check.
const config = loader.getConfigFor('a page');
loader.getConfigFor = () => config;
const validator = new HtmlValidate(loader);

/** What is wrong with a page as HTML, as texts; nothing: it is valid. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId}: ${message} (line ${String(line)})`),
  );
}
