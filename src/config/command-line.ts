import { VERSION } from './package-info';
import { variablesOf, type Group } from './variable';
import { VARIABLES } from './variables';

/** What a program prints in answer to its arguments, instead of doing its work. */
export interface CommandLineAnswer {
  readonly text: string;
  /** 0, or 2 for arguments that the program does not know; then the text belongs on standard error. */
  readonly exitCode: 0 | 2;
}

/** Answers the arguments of the service, which takes none but `--help` and `--version`; undefined: there are none. */
export function answerCommandLine([argument]: readonly string[]): CommandLineAnswer | undefined {
  switch (argument) {
    case undefined:
      return undefined;
    case '--help':
    case '-h':
      return { text: usage(), exitCode: 0 };
    case '--version':
    case '-v':
      return { text: VERSION, exitCode: 0 };
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
    'Usage: asmx-webhook [--help | --version]',
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
