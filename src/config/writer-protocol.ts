/** The variable in a worker's environment that says which protocol its supervisor speaks over the pipe that it shares with it. */
const VARIABLE = 'WEBHOOK_WRITER_PROTOCOL';

/** What a supervisor adds to the environment of its workers. */
export function withWriterProtocol(version: number): Readonly<Record<string, string>> {
  return { [VARIABLE]: String(version) };
}

/** Whether this process is a worker whose supervisor speaks this version of the protocol. */
export function hasWriterProtocol(version: number): boolean {
  return process.env[VARIABLE] === String(version);
}
