/** The systems that run beside the product: what they are, and what of a run they keep when their process dies. */

export interface PeerDescription {
  title: string;
  /** The program, below `bench/peers/`. */
  program: string;
  /** Arguments of the program after its setup. */
  arguments?: readonly string[];
  /** The package whose version is named in the results. */
  package: string;
  durable: boolean;
  /** What `durable` means here, for a reader of the results. */
  keeps: string;
}

export const PEERS = {
  dbos: {
    title: 'DBOS',
    program: 'dbos',
    package: '@dbos-inc/dbos-sdk',
    durable: true,
    keeps: 'the result of every model call and tool call is a step in PostgreSQL',
  },
  langgraph: {
    title: 'LangGraph.js',
    program: 'langgraph',
    package: '@langchain/langgraph',
    durable: true,
    keeps: 'a checkpoint in PostgreSQL before each next step (durability "sync")',
  },
  temporal: {
    title: 'bare Temporal',
    program: 'temporal',
    package: '@temporalio/worker',
    durable: true,
    keeps: 'results of model calls and tool calls are in the workflow history, the conversation with them',
  },
  'temporal-local': {
    title: 'bare Temporal, all local',
    program: 'temporal',
    arguments: ['local'],
    package: '@temporalio/worker',
    durable: false,
    keeps:
      'model calls are local activities, too, and the conversation lies in the memory of the worker: what the workflow ' +
      'engine costs at least',
  },
  'langgraph-api': {
    title: 'LangGraph API server',
    program: 'langgraph-api',
    package: '@langchain/langgraph-api',
    durable: false,
    keeps: 'checkpoints in memory, written to files once it has idled for three seconds; its runs end with its process',
  },
  'langgraph-api-64': {
    title: 'LangGraph API server, 64 jobs',
    program: 'langgraph-api',
    arguments: ['64'],
    package: '@langchain/langgraph-api',
    durable: false,
    keeps: 'the same; it works on 64 runs at once, where its default is 10',
  },
} as const satisfies Record<string, PeerDescription>;

export type PeerName = keyof typeof PEERS;
