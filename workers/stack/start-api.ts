/** `npm run start:api`: one API process. */
import { failCommand } from './command';
import { runPart } from './part';

runPart('api').catch(failCommand);
