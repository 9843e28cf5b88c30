import { PAGE_BYTES } from './free-pages';

// As in https://sqlite.org/fileformat2.html, sections 1.6 (B-tree pages) and 1.8 (pointer map). Sizes and offsets in bytes.

/** An entry of the pointer map: what kind of page it is, and the page that points to it. */
const ENTRY_BYTES = 5;
/** Pages from one page of the pointer map to the next. */
const MAP_STEP = Math.floor(PAGE_BYTES / ENTRY_BYTES) + 1;
const ROOT_PAGE = 1;
const TREE_PAGE = 5;

const INTERIOR_KINDS: ReadonlySet<number | undefined> = new Set([2, 5]);
const FIRST_FREE_BLOCK = 1;
const CELL_COUNT = 3;
const CONTENT_START = 5;
const INTERIOR_HEADER = 12;
const LEAF_HEADER = 8;
const BLOCK_HEADER = 4;

/** The page of the pointer map that says what kind of page another one is. Pages begin at 1. */
export function mapPageOf(page: number): number {
  return Math.floor((Math.max(page, 2) - 2) / MAP_STEP) * MAP_STEP + 2;
}

/** The first page that the next page of the pointer map speaks of, which is that page itself. */
export function nextMapPage(page: number): number {
  return mapPageOf(page) + MAP_STEP;
}

/** Returns a function that says whether the page that comes so many pages after a page of the pointer map holds rows. */
export function kindsOf(map: Buffer): (pagesAfter: number) => boolean {
  return (pagesAfter) => {
    if (pagesAfter <= 0) return false;
    const kind = map[(pagesAfter - 1) * ENTRY_BYTES];
    return kind === ROOT_PAGE || kind === TREE_PAGE;
  };
}

/**
 * Fills the unused room of a page that holds rows with zeros: between its pointers and its content, and in its free blocks.
 * Undefined: there is nothing but zeros.
 */
export function clearedPage(page: Buffer): Buffer | undefined {
  const header = INTERIOR_KINDS.has(page[0]) ? INTERIOR_HEADER : LEAF_HEADER;
  const contentStart = page.readUInt16BE(CONTENT_START) || 0x10000;
  const rooms = [page.subarray(header + 2 * page.readUInt16BE(CELL_COUNT), contentStart)];
  // Free blocks are in the order of their places.
  for (let block = page.readUInt16BE(FIRST_FREE_BLOCK), last = 0; block > last;) {
    rooms.push(page.subarray(block + BLOCK_HEADER, block + page.readUInt16BE(block + 2)));
    last = block;
    block = page.readUInt16BE(block);
  }
  const used = rooms.filter((room) => !room.equals(Buffer.alloc(room.length)));
  for (const room of used) room.fill(0);
  return used.length > 0 ? page : undefined;
}
