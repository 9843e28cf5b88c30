#!/usr/bin/env node
import { requireNode } from '../config/package-info';
requireNode();
import { eventsCommand } from './events-commands';
import { runProgram, UsageError } from './terminal';

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return 2;
  return error instanceof Error && error.name === 'RefusedError' ? 3 : 1;
}

/** Runs the tool with the arguments and the environment of this process, and sets its exit code. */
export function runEventsTool(): Promise<void> {
  return runProgram(() => eventsCommand().run(process.argv.slice(2)), exitCodeOf);
}

if (require.main === module) void runEventsTool();
