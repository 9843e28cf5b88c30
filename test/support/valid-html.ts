import { HtmlValidate, StaticConfigLoader } from 'html-validate';

/** Makes one configuration for all pages: by itself html-validate makes it anew for each, which takes most of its time. */
class OneConfig extends StaticConfigLoader {
  #config: ReturnType<StaticConfigLoader['getConfigFor']> | undefined;

  override getConfigFor(handle: string) {
    return (this.#config ??= super.getConfigFor(handle));
  }
}

const validator = new HtmlValidate(new OneConfig({ extends: ['html-validate:standard'] }));

/** What is wrong with a page as HTML, as texts; nothing: it is valid. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line }) => `${ruleId}: ${message} (line ${String(line)})`),
  );
}
