const KIB = 1024;
const MIB = KIB * KIB;

/** Writes a number of bytes for a person: `640 B`, `12.3 KiB`, `4 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < KIB) return `${String(bytes)} B`;
  const [size, unit] = bytes < MIB ? [bytes / KIB, 'KiB'] : [bytes / MIB, 'MiB'];
  return `${String(Math.round(size * 10) / 10)} ${unit}`;
}

/** Writes a number with its thousands apart. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}
