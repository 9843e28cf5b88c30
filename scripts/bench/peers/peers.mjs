// Builds the other SOAP servers. All that is generated goes to a folder of the caller.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Contract } from '../../../dist/contract/contract.js';
import { SOAP_11_ANSWER } from '../calls.mjs';

const run = promisify(execFile);

const SDK = 'needs a .NET SDK';
const NUGET = `${SDK} and all packages from NuGet`;

/** Each peer's name and what it takes to build it. `fixed`: it always answers as to HelloWorld, whatever it is sent. */
export const PEERS = [
  { name: 'gSOAP', build: buildGsoap, install: 'on Debian, apt-get install gsoap libgsoap-dev g++' },
  { name: 'Kestrel, the bytes alone', build: (folder) => buildDotnet('Kestrel', folder), install: SDK, fixed: true },
  { name: 'SoapCore', build: (folder) => buildDotnet('SoapCore', folder), install: NUGET },
  { name: 'CoreWCF', build: (folder) => buildDotnet('CoreWcf', folder), install: NUGET },
];

/**
 * Builds a peer and resolves to its command, variables and version; to the reason, in one line, if a program or package that it
 * needs is missing.
 */
export async function build({ build: buildIn, install }, folder) {
  await mkdir(folder);
  try {
    return await buildIn(folder);
  } catch (error) {
    if (error.syscall?.startsWith('spawn')) return { missing: `${error.path} is not installed; ${install}` };
    if (error.cmd === undefined) throw error;
    return { missing: `${firstError(error)}; ${install}` };
  }
}

/** The first error that a compiler or package manager printed, without paths of this machine. */
function firstError({ stdout, stderr, message }) {
  const [, found] = /error(?: \w+)?: (.*?)(?:\. | \[|$)/m.exec(stdout + stderr) ?? [];
  return found ?? message;
}

async function buildGsoap(folder) {
  const { stdout, stderr } = await run('soapcpp2', ['-V'], { cwd: folder });
  const contract = await Contract.load('http://tempuri.org/');
  await writeFile(join(folder, 'webhook.wsdl'), contract.wsdl('http://127.0.0.1/'));
  await cp(join(import.meta.dirname, 'gsoap'), folder, { recursive: true });
  const inFolder = (program, ...options) => run(program, options, { cwd: folder });
  await inFolder('wsdl2h', '-o', 'webhook.h', 'webhook.wsdl');
  // SOAP 1.1 (-1), C++ service classes (-j), the server alone (-S), no library and no sample messages (-L -x).
  await inFolder('soapcpp2', '-1', '-j', '-S', '-L', '-x', '-w', 'webhook.h');
  const sources = ['server.cpp', 'soapC.cpp', 'soapWebHookSoapService.cpp'];
  await inFolder('g++', '-O2', '-o', 'server', ...sources, '-lgsoap++', '-pthread');
  return { command: [join(folder, 'server')], variables: {}, version: `gSOAP ${/[\d.]+/.exec(stdout + stderr)?.[0]}` };
}

async function buildDotnet(peer, folder) {
  const { stdout } = await run('dotnet', ['--list-runtimes']);
  const runtime = [...stdout.matchAll(/^Microsoft\.AspNetCore\.App (\S+)/gm)].at(-1)?.[1];
  await cp(join(import.meta.dirname, 'dotnet'), folder, { recursive: true });
  // Without processes that wait for the next build.
  const options = ['-nodeReuse:false', '-p:UseSharedCompilation=false', `-p:Peer=${peer}`];
  await run('dotnet', ['publish', '--configuration', 'Release', '--output', 'out', ...options], { cwd: folder });
  const { libraries } = JSON.parse(await readFile(join(folder, 'out', 'Peer.deps.json'), 'utf8'));
  const library = Object.keys(libraries).find((name) => /^(SoapCore|CoreWCF\.Http)\//.test(name));
  return {
    command: ['dotnet', join(folder, 'out', 'Peer.dll')],
    variables: { ANSWER: SOAP_11_ANSWER },
    version: [library?.replace('/', ' '), `.NET ${runtime}`].filter(Boolean).join(', '),
  };
}
