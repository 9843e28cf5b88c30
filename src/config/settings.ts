/**
 * Settings of the service, as `docs/configuration.md` describes them. What is undefined is not set.
 *
 * The build writes the declaration of the package's type from `variables.ts`: a member for each setting, with what it sets
 * and its default.
 */
export type WebHookSettings = Readonly<Record<string, string | number | boolean | undefined>>;
