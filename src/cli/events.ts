#!/usr/bin/env node
import { requireNode } from '../config/package-info';
requireNode();
import { readConfig } from '../config/config';
import { ProcessConfig } from '../config/process-config';
import type { EventLogLocation } from '../log/engines';
import type { EventLog } from '../log/event-log';
import type { ReceivedForm } from '../forward/message';
import { eventsCommand, type ForwardOrder, type LogCommands } from './events-commands';
import type { LogSource } from './events-options';
import type { MetricsAddress } from './forward/metrics';
import { endOf } from './scan';
import { fileError, misuse, runProgram, stopSignal, UsageError } from './terminal';
import type { ReadableLog } from '../log/readable-log';
import { readFile } from 'node:fs/promises';

/** How a command opens the log; `import` makes one if there is none. */
type LogAccess = 'read' | 'write' | 'import';

/** Each loads only what it needs. */
const COMMANDS: LogCommands = {
  async print(source, start, form) {
    const { printEvents } = await import('./archive.js');
    await withSource(source, (log, stop) => printEvents(log, start, form, stop));
  },
  async follow(source, start, form) {
    const { followEvents } = await import('./archive.js');
    await withSource(source, async (log, stop) => followEvents(log, start ?? (await endOf(log)), form, stop));
  },
  async forward(source, { received, metricsPort, ...task }) {
    const { forwardEvents } = await import('./forward/forward.js');
    const asReceived = received && (await receivedForm(received));
    const { secrets = ProcessConfig.ofTool('forwardSecrets').forwardSecrets } = task;
    const metrics = metricsPort === undefined ? undefined : metricsAddress(metricsPort);
    await withSource(source, (log, stop) => forwardEvents(log, { ...task, secrets, asReceived, metrics }, stop));
  },
  async export(source, file, start) {
    const { exportEvents } = await import('./archive.js');
    await withSource(source, async (log, stop) => {
      failUnless(await exportEvents(file, log, start, stop));
    });
  },
  async import(file) {
    const { importEvents, openInput } = await import('./archive.js');
    // Opened first: a mistyped name must not leave an empty log.
    const input = await openInput(file);
    try {
      await withLog('import', async (log) => failUnless(await importEvents(input, log)));
    } finally {
      if (file !== '-') input.stream.destroy();
    }
  },
  async verify() {
    const { verifyLog } = await import('./upkeep.js');
    await withLog('read', async (log) => failUnless(await verifyLog(log)));
  },
  async forget(selection, form) {
    const { forgetEvents } = await import('./upkeep.js');
    const { engine } = eventLogOfTool();
    await withLog('write', (log) => forgetEvents(selection, log, engine, form, stopSignal()));
  },
  async compact() {
    const { compact } = await import('./upkeep.js');
    await withLog('write', compact);
  },
  async backup(file) {
    const { backUp } = await import('./upkeep.js');
    await withLog('write', (log) => backUp(file, log));
  },
  async restore(file) {
    const { restore } = await import('./upkeep.js');
    await restore(file, eventLogOfTool());
  },
};

async function main(): Promise<void> {
  await eventsCommand(COMMANDS).run(process.argv.slice(2));
}

/** @throws the secret cannot be read, or is not one of the sender's; the message is one line. */
async function receivedForm({ signer }: NonNullable<ForwardOrder['received']>): Promise<ReceivedForm> {
  const { Contract } = await import('../contract/contract.js');
  const contract = await Contract.load(ProcessConfig.ofTool('namespace').namespace);
  if (signer === undefined) return { contract };
  const { signerOf } = await import('../forward/signing.js');
  const { sender, secretFile } = signer;
  const sign = signerOf(sender, await textOf(secretFile));
  if (sign === undefined) throw new Error(`${secretFile} does not hold a secret of ${sender.name}.`);
  return { contract, sign };
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw fileError(file, 'read', error);
  });
}

/** Figures are served with the default limits. */
function metricsAddress(port: number): MetricsAddress {
  const { admin } = ProcessConfig.ofTool('admin');
  return { host: admin.host, port, limits: readConfig({}).limits };
}

function failUnless(isDone: boolean): void {
  if (!isDone) process.exitCode = 1;
}

/** @throws {UsageError} no other process can have the log that EVENT_LOG names. */
function eventLogOfTool(): EventLogLocation {
  const { eventLog } = ProcessConfig.ofTool('eventLog');
  if (!eventLog.isVolatile) return eventLog;
  throw new UsageError('EVENT_LOG=memory: is a log that only its service has. Set EVENT_LOG to another one.');
}

/** Works on the log of a service elsewhere, or on the one that EVENT_LOG names. SIGINT or SIGTERM ends it. */
async function withSource(
  { from: url, keyFile, ca }: LogSource,
  work: (log: ReadableLog, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = stopSignal();
  if (url === undefined) {
    if (keyFile !== undefined || ca !== undefined) throw misuse('--key-file and --ca go with --from.');
    return withLog('read', (log) => work(log, stop));
  }
  const key = keyFile === undefined ? ProcessConfig.readKey() : (await textOf(keyFile)).trim();
  const { RemoteLog } = await import('./remote/remote-log.js');
  const log = new RemoteLog({ url, key, ca: ca === undefined ? undefined : await textOf(ca) }, stop);
  await work(log, stop);
}

/** Opens the log that EVENT_LOG names, and closes it however the work on it ends. */
async function withLog(access: LogAccess, work: (log: EventLog) => Promise<void> | void): Promise<void> {
  const eventLog = eventLogOfTool();
  const log = await openLog(access, eventLog).catch(async (error: unknown) => {
    const isMissing = access !== 'import' && eventLog.isMissing?.() === true;
    const problem = isMissing ? undefined : await eventLog.problem?.();
    throw problem === undefined ? error : new Error(problem);
  });
  log.observe({
    lost(problem) {
      console.error(`A file of the event log was lost: ${problem}`);
    },
  });
  try {
    await work(log);
  } finally {
    await log.close();
  }
}

function openLog(access: LogAccess, eventLog: EventLogLocation): Promise<EventLog> {
  const { eventLogServer } = ProcessConfig.ofTool('eventLogServer');
  if (access !== 'import') return eventLog.open({ ...eventLogServer, retention: {}, create: false });
  // Retention would forget imported events meanwhile, and the next import record them again.
  return eventLog.open({ ...eventLogServer, ...ProcessConfig.ofTool('retention'), forgets: false });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && error.name === 'RefusedError' ? 3 : 1;
}

/** Runs the tool with the arguments and the environment of this process, and sets its exit code. */
export function runEventsTool(): Promise<void> {
  return runProgram(main, exitCodeOf);
}

if (require.main === module) void runEventsTool();
