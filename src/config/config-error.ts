/** Thrown when the configuration has values that the service cannot use; the message names each one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
