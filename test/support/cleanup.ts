import { killProcesses } from './process';
import { stopServices } from './service';

afterAll(async () => {
  killProcesses();
  await stopServices();
});
