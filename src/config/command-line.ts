import { loadConfig } from './config';
import { VERSION } from './package-info';
import { variablesOf, type Group } from './variable';
import { VARIABLES } from './variables';

/** What a program prints in answer to its arguments, instead of doing its work. */
export interface CommandLineAnswer {
  readonly text: string;
  /** 0; 1: the service is not ready; 2: the program does not know the arguments. Unless it is 0, the text is an error. */
  readonly exitCode: 0 | 1 | 2;
}

/**
 * Answers the arguments of the service; undefined: there are none, and it is to be started.
 *
 * @throws {ConfigError} `--ready` needs the configuration, and it is wrong.
 */
export async function answerCommandLine([argument]: readonly string[]): Promise<CommandLineAnswer | undefined> {
  switch (argument) {
    case undefined:
      return undefined;
    case '--help':
    case '-h':
      return { text: usage(), exitCode: 0 };
    case '--version':
    case '-v':
      return { text: VERSION, exitCode: 0 };
    case '--ready': {
      const { askReadiness } = await import('../cli/ready.js');
      return askReadiness(loadConfig());
    }
    default:
      return {
        text: `Unknown argument ${JSON.stringify(argument)}. Settings are environment variables; --help lists them.`,
        exitCode: 2,
      };
  }
}

function usage(): string {
  const lines = [
    `WebHook ${VERSION}: a drop-in replacement for a WebHooks.asmx web service`,
    '',
    'Usage: asmx-webhook [--help | --version | --ready]',
    '',
    '  --ready  starts nothing: exits with 0 if the service that runs with the same settings is ready, otherwise with 1',
    '',
    'Settings are environment variables, or lines NAME=VALUE of a file .env in the working directory:',
  ];
  let section: Group | undefined;
  for (const { group, name, description, default: text, otherwise } of variablesOf(VARIABLES)) {
    if (group !== section) lines.push('', `${group}:`);
    section = group;
    const standard = text ?? otherwise;
    lines.push(`  ${name.padEnd(22)}${description}${standard === 'none' ? '' : ` (${standard})`}`.replaceAll('`', ''));
  }
  return lines.join('\n');
}
