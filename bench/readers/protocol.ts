/** What a benchmark and its process of stream readers say to each other, as messages between parent and child. */

export interface ReadRequest {
  /** Addresses of the APIs; readers are spread over them in turn. */
  urls: string[];
  /** Path of the stream. */
  path: string;
  readers: number;
  /** How many of the readers are cut off again and again. */
  unsteady: number;
  /** Bounds of the time between two cuts of one reader. */
  cutAfterMs: [shortest: number, longest: number];
}

/** What one reader got, in the order in which it came. */
export interface ReaderReport {
  unsteady: boolean;
  /** How often it came back after its connection was gone. */
  reconnects: number;
  /** Connections that the server broke off, or refused. */
  broken: number;
  /** Number of each event that had an id. */
  numbers: number[];
  /** Milliseconds from the commit of each event to its arrival; without those that were there before the reader. */
  eventLags: number[];
  /** Numbers of the tokens, as the referee counts them. */
  tokens: number[];
  /** Milliseconds from the referee's sending of each token to its arrival. */
  tokenLags: number[];
  ended: boolean;
}

export interface ReadReport {
  readers: ReaderReport[];
  /** CPU seconds of this process while it read. */
  cpuSeconds: number;
  wallSeconds: number;
  /** 99th percentile of the lateness of this process's own event loop: how far its figures may be off. */
  loopDelayMs: number;
}

export type ToReaders = { type: 'read'; request: ReadRequest };
export type FromReaders =
  | { type: 'ready' }
  | { type: 'connected' }
  | { type: 'report'; report: ReadReport }
  | { type: 'failed'; message: string };
