import type { BindingName } from '../support/bindings';

/** What a client does with the operations, their payload and their faults. */
export type Check = 'HelloWorld' | 'RecordEvent' | 'payload' | 'GetEvents' | 'fault' | 'size' | 'length';

/**
 * One toolchain: `clients/<folder>/run.sh WSDL TEXT NAMESPACE` makes a client from the live WSDL and prints what it got.
 * The programs of examples/ are clients of `?WSDL=extended`.
 */
export interface Client {
  readonly name: string;
  readonly folder: string;
  /** Each program with the Debian package that provides it. */
  readonly programs: Readonly<Record<string, string>>;
  /** What the client does over each binding that it knows. */
  readonly checks: Readonly<Partial<Record<BindingName, readonly Check[]>>>;
  /** The text that it sends, without what it cannot write as well-formed XML. */
  readonly text?: string;
}

/** Beyond ASCII, beyond the Basic Multilingual Plane, and what XML would take for markup. */
export const TEXT = 'Grüße € <b> & ]]> "日本" 😀';

/** What every client does over every binding that it knows. */
const CALLS: readonly Check[] = ['HelloWorld', 'RecordEvent', 'GetEvents'];
const TYPED: readonly Check[] = [...CALLS, 'fault'];
const ALL: readonly Check[] = [...TYPED, 'payload'];
const RAW: readonly Check[] = [...ALL, 'size', 'length'];

const soap = (checks: readonly Check[]) => ({ soap11: checks, soap12: checks });
const http = (checks: readonly Check[]) => ({ httpget: checks, httppost: checks });

export const CLIENTS: readonly Client[] = [
  {
    name: '.NET Framework proxies',
    folder: 'dotnet-framework',
    programs: { wsdl: 'mono-devel', mcs: 'mono-devel', mono: 'mono-devel' },
    checks: { ...soap(TYPED), ...http(CALLS) },
  },
  {
    name: 'WCF (Mono)',
    folder: 'wcf',
    programs: { svcutil: 'mono-devel', mcs: 'mono-devel', mono: 'mono-devel' },
    checks: soap(ALL),
  },
  { name: 'WCF (modern .NET)', folder: 'dotnet-wcf', programs: { dotnet: 'dotnet-sdk-10.0' }, checks: soap(ALL) },
  {
    name: 'Java JAX-WS',
    folder: 'jax-ws',
    programs: { wsimport: 'jaxws', javac: 'default-jdk-headless' },
    checks: soap(ALL),
  },
  {
    name: 'Java Axis',
    folder: 'axis',
    programs: { '/usr/share/java/axis.jar': 'libaxis-java', javac: 'default-jdk-headless' },
    checks: { soap11: ALL },
    // Axis writes a character beyond U+FFFF as two references to surrogates, which XML forbids.
    text: TEXT.replace(' 😀', ''),
  },
  { name: 'node-soap', folder: 'node-soap', programs: {}, checks: soap(ALL) },
  { name: 'strong-soap', folder: 'strong-soap', programs: {}, checks: soap(CALLS) },
  {
    name: 'Python zeep',
    folder: 'zeep',
    programs: { '/usr/lib/python3/dist-packages/zeep/__init__.py': 'python3-zeep' },
    checks: { ...soap(ALL), ...http(CALLS) },
  },
  { name: 'PHP SoapClient', folder: 'php', programs: { php: 'php-cli' }, checks: soap(ALL) },
  {
    name: 'Perl SOAP::Lite',
    folder: 'soap-lite',
    programs: { '/usr/share/perl5/SOAP/Lite.pm': 'libsoap-lite-perl' },
    checks: soap(ALL),
  },
  {
    name: 'C++ gSOAP',
    folder: 'gsoap',
    programs: { soapcpp2: 'gsoap', 'g++': 'g++', '/usr/include/stdsoap2.h': 'libgsoap-dev' },
    checks: { soap11: TYPED, soap12: CALLS },
  },
  {
    name: 'curl',
    folder: 'curl',
    programs: { curl: 'curl', xmllint: 'libxml2-utils' },
    checks: { ...soap(RAW), ...http(RAW) },
  },
];
