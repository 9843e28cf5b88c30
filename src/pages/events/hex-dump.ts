const BYTES_IN_LINE = 16;

/** Writes bytes as `hexdump -C` does: offset, sixteen bytes in hexadecimal, and beside them those that are printable ASCII. */
export function hexDump(bytes: Buffer): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += BYTES_IN_LINE) {
    const line = bytes.subarray(offset, offset + BYTES_IN_LINE);
    const hex = [line.subarray(0, 8), line.subarray(8)]
      .map((half) =>
        [...half]
          .map((byte) => byte.toString(16).padStart(2, '0'))
          .join(' ')
          .padEnd(23),
      )
      .join('  ');
    const text = [...line].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex}  |${text}|`);
  }
  return lines.join('\n');
}

/** Writes bytes in hexadecimal, with a space between them. */
export function hexText(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
