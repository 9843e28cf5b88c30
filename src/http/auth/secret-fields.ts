/** Keys that are no secrets: of a delivery, of a CloudEvents partition, of a WebSocket's handshake. */
const SECRET =
  /auth|cookie|token|secret|pass|credential|session|jwt|signature|hmac|(?<!idempotency-|partition|websocket-)key/;

/** Whether a header field of this name, in lower case, may hold a secret. Such fields are neither kept nor shown. */
export function mayBeSecret(name: string): boolean {
  return SECRET.test(name);
}
