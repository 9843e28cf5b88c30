import { parentPort, workerData } from 'node:worker_threads';
import { Remote } from '../../util/remote';
import { withoutPath, type SqliteOptions } from './database';
import { openOperations, type Operations } from './operations';

/** The functions of the database thread; before `open` it has no others. */
export interface ThreadFunctions extends Operations {
  /** @throws as {@link openOperations}. */
  open(): void;
}

/** The function of its owner. */
export interface OwnerFunctions {
  /** As `LogObserver.lost`: every question fails until the files are back. */
  lost(problem: string): void;
}

/** Pause between two looks at the files, in milliseconds. */
const LOOK_PAUSE = 500;

const owner = new Remote<OwnerFunctions>((message) => parentPort?.postMessage(message), withoutPath);
parentPort?.on('message', (message) => {
  owner.receive(message);
});
owner.serve({
  open() {
    const operations = openOperations(workerData as SqliteOptions);
    owner.serve(operations);
    watchFiles(operations);
  },
});

/** Tells the owner once each time that the files are lost. */
function watchFiles({ look }: Operations): void {
  let isLost = false;
  setInterval(() => {
    try {
      look();
      isLost = false;
    } catch (error) {
      if (!isLost) owner.tell('lost', withoutPath(error));
      isLost = true;
    }
  }, LOOK_PAUSE);
}
