/** `npm run start:worker`: one worker process. */
import { failCommand } from './command';
import { runPart } from './part';

runPart('worker').catch(failCommand);
