/** The pace of a model, shared by worker processes of which one dies. */
export { arrivalsOf } from './arrivals';
export { pacedWorkers } from './paced-workers';
